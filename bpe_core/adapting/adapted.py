"""The result of adapting a tokenizer: the new tokenizer, and where each of its ids comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bpe_core.tokenizer import Tokenizer, merge_symbols
from bpe_core.trainers import TermCost, spell_in_bytes, spelled_by
from bpe_core.types import read_only

NO_OLD_ID = -1
"""In `old_ids`: a token that the base does not have."""


@dataclass(frozen=True, slots=True, eq=False)
class Adapted:
    """An adapted tokenizer, and the base's embedding rows that each of its rows starts from."""

    base: Tokenizer
    """The tokenizer that was adapted."""
    tokenizer: Tokenizer
    old_ids: NDArray[np.int32] = field(repr=False)
    """int32[largest id + 1], read-only: the base's id of each id, or -1 for a new token."""
    removed: tuple[int, ...] = field(default=(), repr=False)
    """The base's ids of the removed tokens, in the order they were removed."""
    parts: Mapping[int, tuple[int, ...]] = field(
        default_factory=lambda: MappingProxyType({}), repr=False
    )
    """The base's ids that spell each new token, as the base encodes it."""
    terms: tuple[TermCost, ...] = field(default=(), repr=False)
    """The cost of each term that was tried before learning."""


def trace_ids(
    base: Tokenizer,
    tokenizer: Tokenizer,
    kept: NDArray[np.int32] | None = None,
    removed: tuple[int, ...] = (),
    terms: tuple[TermCost, ...] = (),
) -> Adapted:
    """Return an extended tokenizer with the base's ids of its tokens.

    `kept` is the base's id of each id that `tokenizer` has from it; without it, all ids of the base
    are kept as they are. A new token that spells a removed one gets the removed token's id. An id
    that no token has, in a base that skips some, keeps its own.

    >>> from bpe_core.tokenizer import gpt2
    >>> base = gpt2().truncated(2)
    >>> traced = trace_ids(base, Tokenizer(
    ...     vocab={**base.vocab, 50257: b" t t", 50258: b" t t t"},
    ...     merges=[*[(m.left, m.right, m.id) for m in base.merges],
    ...         (256, 256, 50257), (50257, 256, 50258)],
    ...     pretokenizer="none", special_tokens=base.special_tokens,
    ... ))
    >>> traced.old_ids[[256, 50256, 50257]].tolist(), dict(traced.parts)
    ([256, 50256, -1], {50257: (256, 256), 50258: (256, 256, 256)})
    """
    if kept is None:
        kept = np.arange(max(base.vocab) + 1, dtype=np.int32)
    old_ids = np.full(max(tokenizer.vocab) + 1, NO_OLD_ID, np.int32)
    old_ids[: len(kept)] = kept
    id_of_removed = {base.vocab[id]: id for id in removed}
    for id, token in tokenizer.vocab.items():
        if id >= len(kept):
            old_ids[id] = id_of_removed.get(token, NO_OLD_ID)
    characters = {
        id: spell_in_bytes(tokenizer, id)
        for id in tokenizer.base_ids.values()
        if id >= len(kept) and tokenizer.table.byte_ids
    }
    spelled = spelled_by((each for each in tokenizer.merges if each.id >= len(kept)), characters)
    new = {
        id: tuple(old_ids[[*parts]].tolist())
        for id, parts in spelled.items()
        if old_ids[id] == NO_OLD_ID
    }
    if removed:
        # The remaining merges may join a new token differently from how the base encodes it.
        new = _encoded_by(base, new)
    return Adapted(base, tokenizer, read_only(old_ids), removed, MappingProxyType(new), terms)


def _encoded_by(
    base: Tokenizer, spelled: Mapping[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Return the base's own encoding of tokens that are spelled by any of its tokens."""
    table = base.table
    encoded: dict[int, tuple[int, ...]] = {}
    for id, parts in spelled.items():
        symbols: list[int] = []
        waiting = [*reversed(parts)]
        while waiting:
            part = waiting.pop()
            pair = table.parts.get(part)
            if pair is None:
                symbols.append(part)
            else:
                waiting += reversed(pair)
        encoded[id] = tuple(merge_symbols(symbols, table.ranks, table.made))
    return encoded
