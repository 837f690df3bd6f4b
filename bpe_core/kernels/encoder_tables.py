"""Build the tables that the encoding and decoding kernels read.

As arrays by name, they are kept between processes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import added_tokens, encoding, word_cache
from bpe_core.kernels.added_tokens import FIRST_SYMBOL, AddedTokens
from bpe_core.kernels.encoding import SCAN_UP_TO, EncodingScratch
from bpe_core.kernels.for_callers import aligned_empty, aligned_zeros
from bpe_core.kernels.scanning import Scanner
from bpe_core.kernels.token_bytes import NOT_IN_ROW, ROW, Spelling
from bpe_core.kernels.word_cache import (
    ID_BITS,
    NARROW_ROW,
    ROOM,
    WORD_ROW,
    CachedWords,
    NewWords,
    WholeWords,
)
from bpe_core.kernels.word_merging import PAIR_ROW, SYMBOL_BITS, MergeTable, TrieArrays

_CACHE_ROWS: Final = 1 << 14
"""3 MB per thread, up to 12 MB for texts of many words; see `word_cache.MAX_ROWS`."""
_TOKENS_PER_ROW: Final = 2
_ARENA_PER_ROW: Final = 8
_LETTERS_PER_ROW: Final = 32
_BATCH: Final = 256
_MERGES_PER_PAIR_ROW: Final = 5
"""So few that hardly any row of 8 is full."""
_NEIGHBOURS: Final = 1 << 12
"""Pairs of tokens of which a thread remembers the outcome: 32 kB."""
_MAX_TRIE_LETTERS: Final = 1 << 23
_MAX_RANGES: Final = 8
"""Of bytes that begin added tokens; each takes an instruction or two for 64 bytes of text."""
_FREE: Final = np.iinfo(np.uint64).max


def empty_cache(n_rows: int | None = None) -> CachedWords:
    """Return an empty word cache, of the usual size if none is given.

    >>> cache = empty_cache(8)
    >>> len(cache.others) // WORD_ROW, cache.used.tolist()
    (8, [0, 0, 0])
    """
    n_rows = n_rows or _CACHE_ROWS
    return CachedWords(
        narrow=aligned_zeros(NARROW_ROW * n_rows),
        others=aligned_zeros(WORD_ROW * n_rows),
        arena=np.empty(_ARENA_PER_ROW * n_rows, np.int32),
        letters=np.empty(_LETTERS_PER_ROW * n_rows, np.uint8),
        used=np.zeros(3, np.int64),
    )


def _cache_for(n_tokens: int) -> CachedWords:
    """Return an empty word cache with enough room in addition to the words of a vocabulary."""
    n_rows = max(_CACHE_ROWS, _power_of_two(n_tokens // _TOKENS_PER_ROW))
    return empty_cache(min(n_rows, word_cache.MAX_ROWS))


def twice_as_large(cache: CachedWords) -> CachedWords:
    """Return a word cache of twice the size that holds the same words.

    >>> len(twice_as_large(empty_cache(8)).others) // WORD_ROW
    16
    """
    larger = empty_cache(2 * len(cache.others) // WORD_ROW)
    word_cache.copy_words(cache, larger)
    return larger


def larger_or_empty(cache: CachedWords) -> CachedWords:
    """Return a larger word cache with the same words, or an empty one if it may not grow.

    >>> len(larger_or_empty(empty_cache(word_cache.MAX_ROWS)).others) // WORD_ROW
    65536
    """
    n_rows = len(cache.others) // WORD_ROW
    return twice_as_large(cache) if n_rows < word_cache.MAX_ROWS else empty_cache(n_rows)


def scratch(size: int, *, heap: bool) -> EncodingScratch:
    """Return one thread's buffers, for words of up to `size` bytes, with or without a heap.

    >>> buffers = scratch(100, heap=False)
    >>> buffers.ends.size, buffers.heap.size
    (100, 0)
    """
    return EncodingScratch(
        ends=np.empty(size, np.int64),
        pieces=np.empty(size, np.int64),
        low=np.empty(_BATCH, np.uint64),
        high=np.empty(_BATCH, np.uint64),
        places=np.empty(_BATCH, np.uint64),
        first=np.empty(_BATCH, np.uint64),
        last=np.zeros(_BATCH, np.uint64),
        symbols=np.empty(SCAN_UP_TO, np.int32),
        ranks=np.empty(SCAN_UP_TO, np.int32),
        dead=np.empty(size + 1, np.uint8),
        neighbours=np.full(_NEIGHBOURS, _FREE, np.uint64),
        heap=np.empty(3 * size if heap else 0, np.uint64),
        links=np.empty(2 * size if heap else 0, np.int64),
    )


def new_words() -> NewWords:
    """Return one thread's room for the new words of a batch.

    >>> new_words().numbers.size
    256
    """
    return NewWords(
        numbers=np.empty(_BATCH, np.int64),
        open=np.empty(_BATCH, np.uint64),
        symbols=np.empty(ROOM * _BATCH, np.int32),
        pairs=np.empty(ROOM * _BATCH, np.uint32),
        begins=np.empty(_BATCH, np.uint64),
        merged=np.empty(_BATCH, np.uint64),
    )


class Tokens(Protocol):
    """What the tables are built from: the tokens and merges of a tokenizer."""

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """The bytes of each id."""
        ...

    @property
    def triples(self) -> Sequence[tuple[int, int, int]]:
        """The merges in order: left, right and what they make."""
        ...

    @property
    def base_ids(self) -> Mapping[bytes, int]:
        """The alphabet."""
        ...

    @property
    def byte_ids(self) -> Mapping[bytes, int]:
        """The bytes that spell characters outside the alphabet, if they do."""
        ...

    def whole_words(self, made: Sequence[int]) -> list[int]:
        """Return the ids of the tokens that only a whole word may be; merges make the others."""
        ...


class _Symbols(NamedTuple):
    """Merges in terms of symbols: 0 to 255 are the bytes, 256 + r is the result of merge r."""

    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    made: NDArray[np.int32]
    ids: NDArray[np.int32]
    """The id of each symbol."""
    tokens: list[bytes]
    """The bytes of each symbol."""
    beginnings: list[bytes]
    """See `_build_characters`."""


def _symbols(table: Tokens) -> _Symbols:
    """Return the symbols; merges that build characters from their bytes come before all others."""
    by_byte = {**table.byte_ids, **table.base_ids}  # a character of ASCII is its byte
    byte_ids = [by_byte[bytes([byte])] for byte in range(256)]
    built, beginnings = _build_characters(table)
    n = 3 * len(table.triples)
    # np.array takes twice as long for a list of tuples.
    merges = np.fromiter(chain.from_iterable(table.triples), np.int32, n).reshape(-1, 3)
    new = np.arange(256 + len(built), 256 + len(built) + len(merges), dtype=np.int32)
    symbol_of = np.full(max(table.vocab) + len(beginnings) + 1, -1, np.int32)
    # If two merges make the same token, its symbol is that of the first.
    symbol_of[merges[::-1, 2]] = new[::-1]
    symbol_of[byte_ids] = np.arange(256)
    symbol_of[[id for _, _, id in built]] = np.arange(256, 256 + len(built))
    merges = np.concatenate([np.array(built, np.int32).reshape(-1, 3), merges])
    lefts, rights, made = (np.ascontiguousarray(symbol_of[column]) for column in merges.T)
    lefts[: len(built)] = [left for left, _, _ in built]
    rights[: len(built)] = [right for _, right, _ in built]
    ids = [*byte_ids, *merges[:, 2].tolist()]
    spelled = dict(enumerate(beginnings, start=max(table.vocab) + 1))
    tokens = [spelled[id] if id in spelled else table.vocab[id] for id in ids]
    return _Symbols(lefts, rights, made, np.array(ids, np.int32), tokens, beginnings)


def _build_characters(table: Tokens) -> tuple[list[tuple[int, int, int]], list[bytes]]:
    """Return the merges of bytes that build the alphabet's characters, and their beginnings.

    A merge is a symbol, a byte, and the id of what they make. A character of three or four bytes is
    built from its beginning, which no id stands for: it gets one behind those of the vocabulary.
    """
    symbols = {bytes([byte]): byte for byte in range(256)}
    first_id = max(table.vocab) + 1
    built: list[tuple[int, int, int]] = []
    beginnings: list[bytes] = []
    for character in table.base_ids:
        for end in range(2, len(character) + 1):
            part = character[:end]
            if part in symbols:
                continue
            id = table.base_ids.get(part)
            if id is None:
                id = first_id + len(beginnings)
                beginnings.append(part)
            built.append((symbols[part[:-1]], part[-1], id))
            symbols[part] = 255 + len(built)
    return built, beginnings


class Beginnings(NamedTuple):
    """The ids that kernels write where a character outside the alphabet begins like one of it.

    >>> from bpe_core.tokenizer import TokenTable
    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: "漢".encode()}
    >>> table = TokenTable(vocab=vocab, merges=[], base="characters", byte_fallback=range(256))
    >>> ids = np.array([257, 7], np.int32)  # the first two bytes of 漢, and another
    >>> Beginnings.of_table(table, ["漢".encode()[:2]]).spell(ids).tolist(), list("漢".encode())[:2]
    ([230, 188, 7], [230, 188])
    """

    first_id: int
    widths: NDArray[np.int64]
    """int64[n]: how many bytes each beginning has."""
    ids: NDArray[np.int32]
    """int32[n, 3]: the ids of these bytes."""

    @classmethod
    def of_table(cls, table: Tokens, beginnings: Sequence[bytes]) -> Beginnings:
        """Return the beginnings of the characters of a table's alphabet."""
        ids = [[table.byte_ids[bytes([byte])] for byte in each] for each in beginnings]
        return cls(
            max(table.vocab) + 1,
            np.array([len(each) for each in beginnings], np.int64),
            np.array([[*each, 0][:3] for each in ids], np.int32).reshape(-1, 3),
        )

    def spell(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return ids with those of the bytes of each beginning in its place."""
        return self.spell_sections(ids, np.empty(0, np.int64))[0]

    def spell_sections(
        self, ids: NDArray[np.int32], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return what `spell` returns, and where sections end then that ended at `ends`."""
        places = np.flatnonzero(ids >= self.first_id) if self.widths.size else ids[:0]
        if not places.size:
            return ids, ends
        found = ids[places] - self.first_id
        widths = np.ones(ids.size, np.int64)
        widths[places] = self.widths[found]
        reached = np.append(0, np.cumsum(widths))
        spelled = np.repeat(ids, widths)
        for k in range(3):
            has_byte = self.widths[found] > k
            spelled[reached[places[has_byte]] + k] = self.ids[found[has_byte], k]
        return spelled, reached[ends]


class EncoderTables(NamedTuple):
    """All that the kernels read of one tokenizer."""

    scanner: Scanner
    merges: MergeTable
    whole: WholeWords
    trie: TrieArrays
    cache: CachedWords
    """A word cache with the vocabulary."""
    beginnings: Beginnings
    spelling: Spelling

    @classmethod
    def build(cls, table: Tokens, scanner: Scanner) -> EncoderTables:
        """Return the tables for tokens that they can hold, and the cut of a pre-tokenizer.

        >>> from bpe_core.pretokenizers import get_scanner
        >>> from bpe_core.tokenizer import TokenTable
        >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b"hu"}
        >>> table = TokenTable(vocab=vocab, merges=[(104, 117, 256)])
        >>> tables = EncoderTables.build(table, get_scanner("gpt2"))
        >>> merges, trie = tables.merges, tables.trie
        >>> merges.ids[-1], merges.byte_ranks[ord("h") << 8 | ord("u")], trie.width[-1]
        (np.int32(256), np.int32(0), np.int32(2))
        >>> EncoderTables.unpack(tables.pack()).merges.ids.tolist() == list(range(257))
        True
        """
        symbols = _symbols(table)
        return cls(
            scanner,
            *_encoding_tables(table, symbols),
            Beginnings.of_table(table, symbols.beginnings),
            spelling(table),
        )

    @staticmethod
    def can_hold(table: Tokens) -> bool:
        """Return True if the numbers of a tokenizer's ids and symbols fit into the tables.

        >>> from bpe_core.tokenizer import TokenTable
        >>> EncoderTables.can_hold(TokenTable(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)]))
        True
        """
        n_symbols = 256 + len(table.triples) + sum(len(symbol) - 1 for symbol in table.base_ids)
        return (
            n_symbols < 1 << SYMBOL_BITS
            and min(table.vocab) >= 0
            and max(table.vocab) < min(1 << ID_BITS, 8 * len(table.vocab) + (1 << 16))
        )

    def pack(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, before anything is encoded."""
        cache = self.cache
        n_ids, _, n_letters = cache.used.tolist()
        short = cache._replace(arena=cache.arena[:n_ids], letters=cache.letters[:n_letters])
        return {
            f"{group}.{name}": np.asarray(value)
            for group, members in zip(_GROUPS, self._replace(cache=short), strict=True)
            for name, value in zip(members._fields, members, strict=True)
        }

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[Any]]) -> EncoderTables:
        """Return the tables of packed arrays, with a word cache of their own."""

        def members(group: str, names: Iterator[str]) -> Iterator[Any]:
            for name in names:
                array = arrays[f"{group}.{name}"]
                yield array if array.ndim else int(array)

        made = cls(*(kind(*members(group, iter(kind._fields))) for group, kind in _GROUPS.items()))
        kept = made.cache
        cache = empty_cache(len(kept.others) // WORD_ROW)
        for name in cache._fields:
            array: NDArray[Any] = getattr(kept, name)
            getattr(cache, name)[: len(array)] = array
        return made._replace(cache=cache)


_GROUPS: Final[Mapping[str, Any]] = {
    "scanner": Scanner,
    "merges": MergeTable,
    "whole": WholeWords,
    "trie": TrieArrays,
    "cache": CachedWords,
    "beginnings": Beginnings,
    "spelling": Spelling,
}


def _encoding_tables(
    table: Tokens, symbols: _Symbols
) -> tuple[MergeTable, WholeWords, TrieArrays, CachedWords]:
    """Return the encoding tables and a word cache with the vocabulary; 10 MB for GPT-2.

    The trie is empty if two merges make the same token, if one comes before those that make its
    parts, or if it would take too much memory.
    """
    tokens = symbols.tokens
    widths = np.fromiter(map(len, tokens), np.int32, len(tokens))
    starts = np.append(0, np.cumsum(widths, dtype=np.int64))
    longest = int(widths.max())
    n_merges = len(symbols.lefts)
    each_its_own = bool((symbols.made == np.arange(256, 256 + n_merges)).all())
    merges = MergeTable(
        pairs=_free_pairs(_power_of_two(PAIR_ROW * n_merges // _MERGES_PER_PAIR_ROW)),
        byte_ranks=np.empty(1 << 16, np.int32),
        joined=np.zeros(1 << 16, np.uint8),
        made=symbols.made[: 0 if each_its_own else n_merges],
        ids=symbols.ids,
    )
    in_order = bool((np.maximum(symbols.lefts, symbols.rights) < symbols.made).all())
    with_trie = each_its_own and in_order and int(starts[-1]) <= _MAX_TRIE_LETTERS
    occurs = np.zeros(len(tokens), np.uint8)
    room = _power_of_two(4 * len(tokens))
    while True:
        trie = _empty_trie(symbols, widths, room if with_trie else 0)
        cache = _cache_for(len(tokens))
        n_nodes = encoding.build_tables(
            symbols.lefts,
            symbols.rights,
            starts,
            np.frombuffer(b"".join(tokens), np.uint8),
            merges,
            trie,
            cache,
            np.empty(max(SCAN_UP_TO, longest), np.int32),
            scratch(longest, heap=True),
            occurs,
        )
        if n_nodes >= 0:
            known = symbols.ids[occurs == 1].tolist()
            return merges, _whole_words(table, known, merges), trie, cache
        room *= 2


def _free_pairs(n: int) -> NDArray[np.uint64]:
    pairs = aligned_empty(n)
    pairs[:] = _FREE
    return pairs


def _whole_words(table: Tokens, made: list[int], merges: MergeTable) -> WholeWords:
    """Return the tokens that whole words are looked up among, without those that merges make."""
    ids = table.whole_words(made)
    return _enter_words([table.vocab[id] for id in ids], ids, merges)


def _enter_words(tokens: Sequence[bytes], ids: Sequence[int], merges: MergeTable) -> WholeWords:
    whole = WholeWords(
        places=np.full(_power_of_two(2 * len(ids)), -1, np.int32),
        keys=np.empty(2 * len(ids), np.uint64),
        starts=np.append(0, np.cumsum([len(token) for token in tokens], dtype=np.int64)),
        letters=np.frombuffer(b"".join(tokens), np.uint8),
        ids=np.array(ids, np.int32),
    )
    word_cache.enter_whole_words(whole, merges.joined)
    return whole


def enter_added(added: Mapping[str, int], tables: EncoderTables) -> tuple[AddedTokens, WholeWords]:
    """Return what finds added tokens and their ids, and enter these into the word cache.

    Without added tokens, return the whole words of the tables.

    >>> from bpe_core.pretokenizers import get_scanner
    >>> from bpe_core.tokenizer import gpt2
    >>> tables = EncoderTables.build(gpt2().table, get_scanner("gpt2"))
    >>> found, whole = enter_added({"<b>": 7, "[": 8}, tables)
    >>> bytes(found.ranges), whole.ids.tolist()
    (b'<<[[', [7, 8])
    """
    tokens = [text.encode() for text in added]
    n_letters = sum(map(len, tokens))
    room = _power_of_two(2 * n_letters) if tokens else 1
    found = AddedTokens(
        ranges=_cover({token[0] for token in tokens}),
        second=np.full(1 << 16 if tokens else 0, -1, np.int32),
        edges=np.full(room, _FREE, np.uint64),
        symbol_at=np.full(FIRST_SYMBOL + n_letters, -1, np.int32),
        width=np.array([1] * FIRST_SYMBOL + [len(token) for token in tokens], np.int32),
    )
    if not tokens:
        return found, tables.whole
    whole = _enter_words(tokens, list(added.values()), tables.merges)
    added_tokens.enter_added(found, whole, tables.cache)
    return found, whole


def _cover(firsts: Collection[int]) -> NDArray[np.uint8]:
    """Return the ends of few ranges that together have these bytes, and as few others as possible.

    >>> _cover(b"ab<").tolist(), len(_cover(range(0, 256, 2)))
    ([60, 60, 97, 98], 16)
    """
    ranges = [(first, first) for first in sorted(firsts)]
    while len(ranges) > 1:
        gaps = [after[0] - before[1] for before, after in pairwise(ranges)]
        k = min(range(len(gaps)), key=gaps.__getitem__)
        if gaps[k] > 1 and len(ranges) <= _MAX_RANGES:
            break
        ranges[k : k + 2] = [(ranges[k][0], ranges[k + 1][1])]
    return np.array(ranges, np.uint8).reshape(-1)


def _empty_trie(symbols: _Symbols, widths: NDArray[np.int32], room: int) -> TrieArrays:
    symbol_at = np.full(room // 2, -1, np.int32)
    own = np.arange(256, dtype=np.int32)
    symbol_at[:256] = own[: len(symbol_at)]
    return TrieArrays(
        second=np.full(1 << 16, -1, np.int32),
        edges=np.full(max(room, 1), _FREE, np.uint64),
        symbol_at=symbol_at,
        left=np.concatenate([own, symbols.lefts]),
        right=np.concatenate([own, symbols.rights]),
        width=widths,
        shorter=np.full(len(widths), -1, np.int32),
    )


def spelling(table: Tokens) -> Spelling:
    """Return the bytes of all tokens, laid out for decoding.

    >>> from bpe_core.tokenizer import TokenTable
    >>> spelling(TokenTable(vocab={0: b"h", 2: b"hug"}, merges=[])).width.tolist()
    [1, -1, 3]
    """
    ids = np.fromiter(table.vocab.keys(), np.int64)
    tokens = list(table.vocab.values())
    letters = np.frombuffer(b"".join(tokens), np.uint8)
    lengths = np.fromiter(map(len, tokens), np.int32, len(tokens))
    n_ids = int(ids.max()) + 1
    width = np.full(n_ids, -1, np.int32)
    width[ids] = lengths
    start = np.zeros(n_ids, np.int64)
    start[ids] = np.cumsum(lengths) - lengths
    rows = np.full((n_ids, ROW), NOT_IN_ROW, np.uint8)
    rows[ids] = 0
    for k in range(ROW - 1):
        longer = ids[lengths > k]
        rows[longer, k] = letters[start[longer] + k]
    rows[ids, -1] = np.where(lengths < ROW, lengths, NOT_IN_ROW)
    return Spelling(rows.reshape(-1).view("<u8"), width, start, letters)


def _power_of_two(least: int) -> int:
    return 1 << max(10, (least - 1).bit_length())
