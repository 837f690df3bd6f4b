"""A tokenizer's table as arrays, and the table of such arrays, which makes its parts when asked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bpe_core.kernels import without_garbage_collection
from bpe_core.tokenizer.tables import TokenTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


def can_store(table: TokenTable) -> bool:
    """Return True if a table can be written as arrays: it has no end-of-word marker and no counts.

    >>> can_store(TokenTable(vocab={0: b"a"}, merges=[])), can_store(
    ...     TokenTable(vocab={0: b"a", 1: b"</w>"}, merges=[], end_of_word="</w>")
    ... )
    (True, False)
    """
    return table.end_of_word is None and table.counts is None


def table_to_arrays(table: TokenTable) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a table as JSON values and arrays, from which `StoredTable` makes it again.

    >>> table = TokenTable(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)])
    >>> StoredTable(*table_to_arrays(table)).vocab == table.vocab
    True
    """
    import numpy as np

    tokens = table.vocab.values()
    facts = {
        "base": table.base,
        "complete": table.complete,
        "special_tokens": dict(table.special_tokens),
        "whole_words_first": table.whole_words_first,
    }
    return facts, {
        "ids": np.fromiter(table.vocab, np.int64, len(tokens)),
        "ends": np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens))),
        "letters": np.frombuffer(b"".join(tokens), np.uint8),
        "merges": np.array(table.triples, np.int64).reshape(-1, 3),
        "base_ids": np.fromiter(table.base_ids.values(), np.int64),
        "byte_ids": np.fromiter(table.byte_ids.values(), np.int64),
    }


class StoredTable(TokenTable):
    """A table that was checked when it was first made, and makes its parts when they are asked for.

    Kernels need none of them.
    """

    def __init__(
        self,
        facts: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        kernel_tables: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    ) -> None:
        self._arrays = arrays
        self.kernel_tables = kernel_tables
        self.base = facts["base"]
        self.complete = facts["complete"]
        self.special_tokens = MappingProxyType(facts["special_tokens"])
        self.whole_words_first = facts["whole_words_first"]

    def __getattr__(self, name: str) -> Any:
        """Make a part that has not been asked for before."""
        with without_garbage_collection():
            value = self._make(name)
        setattr(self, name, value)
        return value

    def _make(self, name: str) -> Any:
        match name:
            case "vocab":
                letters, ends = self._arrays["letters"].tobytes(), self._arrays["ends"].tolist()
                tokens = map(letters.__getitem__, map(slice, [0, *ends], ends))
                ids = self._arrays["ids"].tolist()
                return MappingProxyType(dict(zip(ids, tokens, strict=True)))
            case "triples":
                return tuple(zip(*self._arrays["merges"].T.tolist(), strict=True))
            case "base_ids" | "byte_ids":
                ids = self._arrays[name].tolist()
                tokens = map(self.vocab.__getitem__, ids)
                return MappingProxyType(dict(zip(tokens, ids, strict=True)))
            case _:
                raise AttributeError(name)
