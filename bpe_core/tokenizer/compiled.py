"""Encode and decode with compiled kernels, for texts long enough to be worth it.

Kernels serve tokenizers whose alphabet, or the bytes for characters outside it, covers every text,
and that have no end-of-word marker; see `can_compile`. Other tokenizers, and short texts, use the
plain Python of `Tokenizer`. Kernels merge bytes: where the base symbols are characters, the first
merges build those from their bytes.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import (
    BEFORE_SPACES,
    ID_BITS,
    LONG_WORD,
    ROW,
    SLACK,
    SYMBOL_BITS,
    CachedWords,
    encoding,
    for_callers,
    longer,
    token_bytes,
)
from bpe_core.pretokenizers import SCANNERS, Block, Pretokenizer, Section, byte_ends
from bpe_core.tokenizer.compiled_tables import (
    EncoderTables,
    build_tables,
    count_symbols,
    empty_cache,
    enter_added,
    larger_or_empty,
    new_words,
    scratch,
    twice_as_large,
)
from bpe_core.tokenizer.shared_blocks import (
    Encoded,
    Gathered,
    Waiting,
    cut_blocks,
    join_sections,
    join_texts,
    one_block,
)
from bpe_core.tokenizer.tables import TokenTable
from bpe_core.tokenizer.token_parts import (
    choose_by_kernel,
    cuts_by_kernel,
    number_by_kernel,
    to_triples,
)
from bpe_core.types import read_only
from bpe_core.unicode import AFTER_WORD

_PACKED_AT_ONCE: Final = 4096


def as_int32(ids: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int32] | None:
    """Return ids as int32, or None if any is not an int or too large for a token.

    >>> as_int32([464, 2068]), as_int32([2**40])
    (array([ 464, 2068], dtype=int32), None)
    """
    if isinstance(ids, np.ndarray) and ids.dtype == np.int32:
        known = np.require(ids, np.int32, ["C_CONTIGUOUS", "ALIGNED"]).view()
        # Kernels are compiled per array type, so all calls pass read-only arrays.
        known.flags.writeable = False
        return known
    listed: Sequence[int] = ids.tolist() if isinstance(ids, np.ndarray) else ids
    try:
        known = np.frombuffer(_packed(listed), np.int32)
    except struct.error:
        return None
    # `struct` packs a bool as an int. Checking the type of every id would double the time.
    if any(isinstance(listed[place], bool) for place in np.flatnonzero(known < 2).tolist()):
        return None
    # Read-only, as above: for a writable array the kernels would be compiled again.
    known.flags.writeable = False
    return known


def _packed(ids: Sequence[int]) -> bytes:
    """Return ids as bytes of int32; raises struct.error if any is not an int or too large.

    An `array` takes 1.5 times as long, and `np.fromiter` takes 1.5 for 1.
    """
    whole = len(ids) - len(ids) % _PACKED_AT_ONCE
    pack = struct.Struct(f"{_PACKED_AT_ONCE}i").pack
    parts = [pack(*ids[k : k + _PACKED_AT_ONCE]) for k in range(0, whole, _PACKED_AT_ONCE)]
    parts.append(struct.pack(f"{len(ids) - whole}i", *ids[whole:]))
    return b"".join(parts)


Ids = NDArray[np.int32]

_MIN_BYTES_TO_SHARE: Final = 1 << 19
"""From about this size, a second thread is worth starting and filling its own cache."""
_PIECE: Final = 1 << 18
"""The characters that a thread takes at once, so that all end together."""
_LIKELY_BYTES: Final = 6
"""The expected average length of a token; if it is longer, decoding enlarges its buffer."""
_MAX_KEPT: Final = 1 << 21
"""The most ids of a worker's buffer that is kept for the next text: 8 MB."""
_MIN_IDS_TO_SHARE: Final = 5_000
_SCAN_AHEAD: Final = 8192
_LONG_WORDS: Final = 24
"""Words of this many bytes on average are worth cutting."""
_NO_ENDS: Final = np.empty(0, np.int64)


def can_compile(table: TokenTable) -> bool:
    """Return True if the kernels support this tokenizer.

    >>> can_compile(TokenTable(vocab={0: b"a"}, merges=[]))
    False
    """
    return (
        table.complete
        and table.end_of_word is None
        and count_symbols(table) < 1 << SYMBOL_BITS
        and min(table.vocab) >= 0
        and max(table.vocab) < min(1 << ID_BITS, 8 * len(table.vocab) + (1 << 16))
        and not (table.whole_words_first and _has_same_tokens(table))
    )


def _has_same_tokens(table: TokenTable) -> bool:
    """Return True if several ids have the same bytes.

    The kernels enter the tokens that merges make into the word cache, where a whole word would be
    found before another id of it is looked up.
    """
    special = set(table.special_tokens.values())
    return len(table.word_ids) < sum(id not in special for id in table.vocab)


class CompiledEncoder:
    """Encode and decode with the tables of one tokenizer; may be shared between threads.

    >>> from bpe_core.tokenizer import gpt2
    >>> encoder = CompiledEncoder(gpt2().table, gpt2().pretokenizer)
    >>> encoder.encode("The quick brown fox").tolist()
    [464, 2068, 7586, 21831]
    """

    def __init__(
        self, table: TokenTable, pretokenizer: Pretokenizer, tables: EncoderTables | None = None
    ) -> None:
        self._pretokenizer = pretokenizer
        made = tables or build_tables(table, pretokenizer.cut)
        self._scanner, self._merges, _, self._trie = made[:4]
        self._cuts = self._scanner  # the pattern's own, where bytes are left out after the cut
        if self._scanner.rules & BEFORE_SPACES and not made.whole.ids.size:
            # A part that spells a whole word would be looked up as one.
            self._scanner = self._scanner._replace(joined=read_only(self._merges.joined))
        self._added, self._whole = enter_added(pretokenizer.added, made)
        self._beginnings, self._spelling = made.beginnings, made.spelling
        self._longest = int(self._spelling.width.max())
        self._objects: NDArray[Any] | None = None
        # Each thread borrows a worker with its own word cache. The first worker's cache already
        # holds the vocabulary; the others see enough text to fill theirs. A worker takes 5 to
        # 30 MB, so no more are kept than there are processors: those returned last.
        first = _Worker(made.cache, heap=not self._trie.symbol_at.size)
        self._workers = deque([first], maxlen=for_callers.n_threads())

    def encode(self, text: str, n_threads: int | None = None, *, left_out: bytes = b"") -> Ids:
        """Return the ids of a text; raises UnicodeEncodeError for a lone surrogate.

        Pre-tokens lose the bytes of ASCII that are `left_out` before they are merged.
        """
        if self._pretokenizer.cut not in SCANNERS:
            return self._encode_by_regex(text, left_out)
        if len(text) <= _PIECE:
            return self._run(one_block([text]), left_out=left_out)[0]
        if n_threads is None:
            n_threads = _threads(len(text))
        blocks = cut_blocks(text, self._pretokenizer, _PIECE)
        return self._encode_blocks(blocks, len(text), n_threads, left_out)[0]

    def _encode_blocks(
        self, blocks: Iterator[Block], n_characters: int, n_threads: int, left_out: bytes = b""
    ) -> Encoded:
        gathered = Gathered(n_characters)
        encode = partial(self._encode_waiting, Waiting(blocks), gathered, left_out)
        for_callers.together([encode] * n_threads)
        return self._beginnings.spell_sections(*gathered.finish())

    def _encode_waiting(self, waiting: Waiting, gathered: Gathered, left_out: bytes) -> None:
        """Encode blocks until none is waiting.

        Other threads may take blocks at the same time; an error ends it for all.
        """
        try:
            with self._borrowed_worker() as worker:
                while (taken := waiting.take()) is not None:
                    number, block = taken
                    word_ends = _NO_ENDS
                    if left_out:
                        block, word_ends = self._leave_out(left_out, block, worker)
                    n_bytes = int(block.bounds[-1] - block.bounds[0])
                    ids, ends = self._write(worker, block, word_ends)
                    gathered.add(number, n_bytes, ids, ends)
        finally:
            waiting.stop()  # the text is used up, or nobody wants the rest

    def encode_batch(self, texts: Sequence[str], n_threads: int | None = None) -> Encoded:
        """Return the ids of several texts and the running number of ids after each text."""
        if self._pretokenizer.cut not in SCANNERS:
            parts = [self._encode_by_regex(text) for text in texts]
            return _joined((part, np.array([len(part)])) for part in parts)
        n_characters = sum(map(len, texts))
        if n_characters <= _PIECE:
            return self._run(one_block(texts))
        n_threads = n_threads or _threads(n_characters)
        return self._encode_blocks(join_texts(texts, _PIECE), n_characters, n_threads)

    def encode_sections(
        self, sections: Iterable[Section], n_bytes: int, n_threads: int | None = None
    ) -> Encoded:
        """Return the ids of sections of valid UTF-8 of about `n_bytes`, and where each one's end.

        Sections are taken as they are encoded, by one thread at a time. The pre-tokenizer must have
        a scanner, and nothing is put in front of a text.
        """
        n_threads = n_threads or _threads(n_bytes)
        return self._encode_blocks(join_sections(sections, _PIECE), n_bytes, n_threads)

    def encode_words(self, words: Sequence[bytes]) -> Encoded:
        """Return the ids of whole pre-tokens, and where each one's ids end."""
        ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)))
        return self._encode_ended(np.frombuffer(b"".join(words), np.uint8), ends)

    def encode_letters(self, letters: NDArray[np.uint8]) -> Encoded:
        """Return the ids of words in one array, and where each one's ids end.

        letters: uint8[n], AFTER_WORD after each word.
        """
        if not letters.size:
            return np.empty(0, np.int32), _NO_ENDS
        gaps = np.flatnonzero(letters == AFTER_WORD)
        n_shares = min(_threads(letters.size), gaps.size)
        shares: list[partial[Encoded]] = []
        for first, stop in pairwise(gaps.size * i // n_shares for i in range(n_shares + 1)):
            begin = int(gaps[first - 1]) + 1 if first else 0
            share = letters[begin : gaps[stop - 1] + 1]
            text = share[share != AFTER_WORD]
            text.flags.writeable = False  # as all text is: kernels are compiled per type of array
            ends = gaps[first:stop] - begin - np.arange(stop - first)
            shares.append(partial(self._encode_ended, text, ends))
        return _joined(for_callers.together(shares))

    def _encode_ended(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> Encoded:
        """Return the ids of the words that end at these bytes, and where each one's ids end."""
        ids, _ = self._run(Block(text, np.array([0, text.size])), self._finer(text, ends))
        # Tokens cover every byte once and never cross the end of a word.
        ends_token = np.zeros(text.size + 1, np.bool_)
        ends_token[np.cumsum(self._spelling.width[ids], dtype=np.int64)] = True
        return ids, np.cumsum(ends_token, dtype=np.int32)[ends].astype(np.int64)

    def _finer(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return more ends for long words: where no token has the two bytes next to each other.

        No merge joins what is on both sides, and short words are found in the cache: 100 MB of
        words of 60 bytes took three times as long without.
        """
        if self._whole.ids.size or text.size < _LONG_WORDS * ends.size:
            return ends
        found = np.empty(text.size, np.int64)
        return found[: encoding.find_apart(text, ends, self._merges.joined, found)]

    def forget_words(self) -> None:
        """Free the word caches of threads that are not encoding; new ones fill as they encode."""
        self._workers.clear()

    def to_list(self, ids: Ids) -> list[int]:
        """Return ids as a list of ints, one shared object per id: half tolist's time and memory."""
        if self._objects is None:
            if len(ids) < _MIN_IDS_TO_SHARE:
                return ids.tolist()
            self._objects = np.arange(len(self._spelling.width)).astype(object)
        return self._objects.take(ids).tolist()

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint8] | None:
        """Return the bytes that `ids` decode to, as uint8; None if any id is invalid."""
        known = as_int32(ids)
        if known is None:
            return None
        out = np.empty(_LIKELY_BYTES * len(known) + self._longest + ROW, np.uint8)
        done, size = token_bytes.decode_ids(known, 0, self._spelling, out, 0)
        while size >= 0 and done < len(known):
            out = longer(out, 2 * len(out))
            done, size = token_bytes.decode_ids(known, done, self._spelling, out, size)
        return out[:size] if size >= 0 else None

    def _encode_by_regex(self, text: str, left_out: bytes = b"") -> Ids:
        block, ends = one_block([text]), byte_ends(text, self._pretokenizer)
        return self._run(*(_without(left_out, block, ends) if left_out else (block, ends)))[0]

    def _leave_out(
        self, left_out: bytes, block: Block, worker: _Worker
    ) -> tuple[Block, NDArray[np.int64]]:
        """Return a block without these bytes, as one section, and where its words end then."""
        begin, end = int(block.bounds[0]), int(block.bounds[-1])
        block = Block(block.text[begin:end], block.bounds - begin)
        found = np.empty(block.text.size, np.int64)
        reached = np.array([0, 0, 0])
        while encoding.find_ends(
            self._cuts, block.text, block.bounds, found, worker.scratch, reached
        ):
            worker.grow()
        return _without(left_out, block, found[: reached[2]])

    def _run(
        self, block: Block, ends: NDArray[np.int64] = _NO_ENDS, *, left_out: bytes = b""
    ) -> Encoded:
        """Encode the sections of a block, without the threads that blocks of a long text need."""
        with self._borrowed_worker() as worker:
            if left_out:
                block, ends = self._leave_out(left_out, block, worker)
            ids, section_ends = self._write(worker, block, ends)
            # A copy, because another thread may use the worker once it is given back.
            ids = ids.copy()
        return self._beginnings.spell_sections(ids, section_ends)

    def _write(self, worker: _Worker, block: Block, ends: NDArray[np.int64]) -> Encoded:
        """Write the ids of a block to a worker's buffer; return them, and where sections end.

        `ends` are the ends of its words if they are known: where there is no scanner for the
        pattern, where bytes were left out, or if the words were given.
        """
        out = worker.room_for(int(block.bounds[-1] - block.bounds[0]) + SLACK)
        section_ends = np.empty(len(block.bounds) - 1, np.int64)
        reached = np.array([0, block.bounds[0], 0, 0])
        while True:
            status = encoding.encode_text(
                self._scanner,
                block.text,
                block.bounds,
                ends,
                self._merges,
                self._whole,
                self._added,
                self._trie,
                worker.cache,
                out,
                section_ends,
                worker.scratch,
                worker.new,
                reached,
            )
            if status == encoding.DONE:
                return out[: reached[2]], section_ends
            if status == encoding.CACHE_CROWDED:
                worker.cache = twice_as_large(worker.cache)
            else:
                worker.grow()

    @contextmanager
    def _borrowed_worker(self) -> Generator[_Worker]:
        """Take a worker that no other thread has, and give it back in the end."""
        try:
            worker = self._workers.pop()
        except IndexError:
            worker = _Worker(empty_cache(), heap=not self._trie.symbol_at.size)
        try:
            yield worker
        finally:
            worker.tidy()
            self._workers.append(worker)


def _without(
    left_out: bytes, block: Block, ends: NDArray[np.int64]
) -> tuple[Block, NDArray[np.int64]]:
    """Leave bytes of ASCII out of a block; return it as one section, and where its words end now.

    `ends` are those of its words before; what the pre-tokenizer drops ends at a negative one.
    """
    is_kept = np.ones(256, np.bool_)
    is_kept[list(left_out)] = False
    text = np.frombuffer(block.text.tobytes().translate(None, left_out), np.uint8)
    moved = np.cumsum(is_kept[block.text], dtype=np.int64)[np.abs(ends) - 1]
    is_word = np.diff(moved, prepend=0) > 0
    signed = np.where(ends < 0, -moved, moved)
    return Block(text, np.array([0, text.size])), signed[is_word]


def _threads(n_bytes: int) -> int:
    return 1 if n_bytes < _MIN_BYTES_TO_SHARE else for_callers.n_threads()


def _joined(parts: Iterable[Encoded]) -> Encoded:
    """Concatenate encoded parts and their running numbers of ids."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    ids: list[Ids] = [np.empty(0, np.int32)]
    ends: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    n_ids = 0
    for some, some_ends in parts:
        ids.append(some)
        ends.append(some_ends + n_ids)
        n_ids += len(some)
    return np.concatenate(ids), np.concatenate(ends)


class _Worker:
    """One thread's state for encoding: a word cache, and buffers as long as the longest word."""

    def __init__(self, cache: CachedWords, heap: bool) -> None:
        self._heap = heap
        self.cache = cache
        self._out = np.empty(0, np.int32)
        self.scratch = scratch(_SCAN_AHEAD, heap)
        self.new = new_words()

    def room_for(self, n_ids: int) -> Ids:
        """Return an array to write ids to, reused if possible, because new memory is slow."""
        if n_ids > _MAX_KEPT:
            return np.empty(n_ids, np.int32)
        if n_ids > len(self._out):
            self._out = np.empty(n_ids, np.int32)
        return self._out

    def grow(self) -> None:
        self.scratch = scratch(2 * len(self.scratch.ends), self._heap)

    def tidy(self) -> None:
        """Release the buffers of a very long word, and a word cache whose arrays are full.

        Such a cache cannot store words of many ids or letters; a larger one, or one that adapts to
        the text again, can.
        """
        cache = self.cache
        if (
            cache.used[0] > len(cache.arena) - (1 + LONG_WORD) - SLACK
            or cache.used[2] > len(cache.letters) - LONG_WORD
        ):
            self.cache = larger_or_empty(cache)
        if len(self.scratch.ends) > 1 << 20:
            self.scratch = scratch(_SCAN_AHEAD, self._heap)


def compile_all() -> None:
    """Compile every kernel that this module uses, by using it."""
    from bpe_core.pretokenizers import IsolatingPretokenizer, get_pretokenizer

    table = TokenTable(vocab={byte: bytes([byte]) for byte in range(256)}, merges=[])
    encoder = CompiledEncoder(table, get_pretokenizer("gpt2"))
    encoder.decode(encoder.encode("hug hugs"))
    encoder.encode("hug\thugs", left_out=b"\t")
    encoder.encode_words([b"hug" * _LONG_WORDS])
    CompiledEncoder(table, IsolatingPretokenizer("sentencepiece", {"<b>": 256}))
    twice_as_large(empty_cache())
    choose_by_kernel(to_triples([(0, 1, 2)]), {0, 1}, 3)
    number_by_kernel({"a": 0, "aa": 1}, [("a", "a")])
    cuts_by_kernel([b"aa"], {b"a": 0, b"aa": 1})
