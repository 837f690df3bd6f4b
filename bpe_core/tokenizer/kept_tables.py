"""The tables of kernels as arrays by name, to keep them between processes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.files import Kept, find_kept, hash_package, keep
from bpe_core.kernels import (
    WORD_ROW,
    CachedWords,
    MergeTable,
    Scanner,
    Spelling,
    TrieArrays,
    WholeWords,
)
from bpe_core.tokenizer.compiled_tables import (
    Beginnings,
    EncoderTables,
    build_tables,
    empty_cache,
)
from bpe_core.tokenizer.tables import TokenTable

_GROUPS: Final[Mapping[str, Any]] = {
    "scanner": Scanner,
    "merges": MergeTable,
    "whole": WholeWords,
    "trie": TrieArrays,
    "cache": CachedWords,
    "beginnings": Beginnings,
    "spelling": Spelling,
}


def kept_tables(table: TokenTable, pretokenizer: str) -> EncoderTables:
    """Return the kernels' tables for a table with a name; a machine builds them once."""
    made_from = f"{table.kept_as} {pretokenizer} {hash_package()}"
    key = hashlib.sha256(made_from.encode()).hexdigest()
    kept = find_kept(key)
    if kept is None:
        kept = Kept({}, pack_tables(build_tables(table, pretokenizer)))
        keep(key, kept)
    return unpack_tables(kept.arrays)


def pack_tables(tables: EncoderTables) -> dict[str, NDArray[Any]]:
    """Return all arrays of an encoder's tables by name, before it encodes anything.

    >>> from bpe_core.tokenizer.compiled_tables import build_tables
    >>> from bpe_core.tokenizer import TokenTable
    >>> table = TokenTable(vocab={byte: bytes([byte]) for byte in range(256)}, merges=[])
    >>> packed = pack_tables(build_tables(table, "gpt2"))
    >>> unpack_tables(packed).merges.ids.tolist() == list(range(256))
    True
    """
    cache = tables.cache
    n_ids, _, n_letters = cache.used.tolist()
    short = cache._replace(arena=cache.arena[:n_ids], letters=cache.letters[:n_letters])
    return {
        f"{group}.{name}": np.asarray(value)
        for group, members in zip(_GROUPS, tables._replace(cache=short), strict=True)
        for name, value in zip(members._fields, members, strict=True)
    }


def unpack_tables(arrays: Mapping[str, NDArray[Any]]) -> EncoderTables:
    """Return the tables of an encoder, with a word cache of its own."""

    def members(group: str, names: Iterator[str]) -> Iterator[Any]:
        for name in names:
            array = arrays[f"{group}.{name}"]
            yield array if array.ndim else int(array)

    made = EncoderTables(
        *(kind(*members(group, iter(kind._fields))) for group, kind in _GROUPS.items())
    )
    kept = made.cache
    cache = empty_cache(len(kept.others) // WORD_ROW)
    for name in cache._fields:
        array: NDArray[Any] = getattr(kept, name)
        getattr(cache, name)[: len(array)] = array
    return made._replace(cache=cache)
