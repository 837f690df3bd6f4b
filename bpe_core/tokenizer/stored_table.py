"""A tokenizer's table as arrays, and the table of such arrays, which makes its parts when asked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bpe_core.kernels.garbage import without_garbage_collection
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.types import Pair

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

    __slots__ = ("_arrays",)

    def __init__(
        self,
        facts: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        kernel_tables: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    ) -> None:
        self._arrays = arrays
        self.kernel_tables, self.kept_as = kernel_tables, ""
        self.base = facts["base"]
        self.complete = facts["complete"]
        self.special_tokens = MappingProxyType(facts["special_tokens"])
        self.whole_words_first = facts["whole_words_first"]
        self.end_of_word = self.end_of_word_id = self.counts = None
        self.ending_word = frozenset()

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
            case "content":
                return self.vocab
            case "triples":
                return tuple(zip(*self._columns(), strict=True))
            case "made":
                return tuple(self._columns()[2])
            case "ranks":
                lefts, rights, made = self._columns()
                return dict(zip(zip(lefts, rights, strict=True), range(len(made)), strict=True))
            case "parts":
                parts: dict[int, Pair] = {}
                for left, right, made in self.triples:
                    parts.setdefault(made, (left, right))
                return parts
            case "word_ids":
                return self._map_words() if self.whole_words_first else {}
            case "base_ids" | "byte_ids":
                ids = self._arrays[name].tolist()
                tokens = map(self.vocab.__getitem__, ids)
                return MappingProxyType(dict(zip(tokens, ids, strict=True)))
            case "_id_of_byte":
                return self._find_bytes()
            case "_id_of_character":
                return self._find_characters()
            case _:
                raise AttributeError(name)

    def _columns(self) -> tuple[list[int], list[int], list[int]]:
        lefts, rights, made = self._arrays["merges"].T.tolist()
        return lefts, rights, made
