"""Encode and decode with compiled kernels, for texts long enough to be worth it.

Kernels serve tokenizers whose alphabet, or the bytes for characters outside it, covers every text,
and that have no end-of-word marker; see `can_compile`. Other tokenizers, and short texts, use the
plain Python of `Tokenizer`. Kernels merge bytes: where the base symbols are characters, the first
merges build those from their bytes.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.files import Kept
from bpe_core.kernels import (
    Block,
    BlockEncoder,
    Encoded,
    EncoderTables,
    for_callers,
    together,
)
from bpe_core.pretokenizers import Pretokenizer, Section
from bpe_core.tokenizer.shared_blocks import (
    Gathered,
    Waiting,
    cut_blocks,
    join_sections,
    join_texts,
    one_block,
)
from bpe_core.tokenizer.tables import TokenTable
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
_MIN_IDS_TO_SHARE: Final = 5_000
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
        and EncoderTables.can_hold(table)
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
        made = tables or EncoderTables.build(table, pretokenizer.scanner())
        self.kernels = BlockEncoder(made, pretokenizer.added)
        self._objects: NDArray[Any] | None = None

    def encode(self, text: str, n_threads: int | None = None, *, left_out: bytes = b"") -> Ids:
        """Return the ids of a text; raises UnicodeEncodeError for a lone surrogate.

        Pre-tokens lose the bytes of ASCII that are `left_out` before they are merged.
        """
        if not self._pretokenizer.has_scanner:
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
        together([encode] * n_threads)
        return self.kernels.beginnings.spell_sections(*gathered.finish())

    def _encode_waiting(self, waiting: Waiting, gathered: Gathered, left_out: bytes) -> None:
        """Encode blocks until none is waiting.

        Other threads may take blocks at the same time; an error ends it for all.
        """
        try:
            with self.kernels.borrowed_worker() as worker:
                while (taken := waiting.take()) is not None:
                    number, block = taken
                    word_ends = _NO_ENDS
                    if left_out:
                        block, word_ends = self._leave_out(left_out, block, worker.find_ends)
                    n_bytes = int(block.bounds[-1] - block.bounds[0])
                    ids, ends = worker.write(block, word_ends)
                    gathered.add(number, n_bytes, ids, ends)
        finally:
            waiting.stop()  # the text is used up, or nobody wants the rest

    def encode_batch(self, texts: Sequence[str], n_threads: int | None = None) -> Encoded:
        """Return the ids of several texts and the running number of ids after each text."""
        if not self._pretokenizer.has_scanner:
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
        return _joined(together(shares))

    def _encode_ended(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> Encoded:
        """Return the ids of the words that end at these bytes, and where each one's ids end."""
        ids, _ = self._run(Block(text, np.array([0, text.size])), self._finer(text, ends))
        return ids, self.kernels.count_ids(ids, ends)

    def _finer(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return more ends for long words: where no token has the two bytes next to each other.

        No merge joins what is on both sides, and short words are found in the cache: 100 MB of
        words of 60 bytes took three times as long without.
        """
        if self.kernels.whole.ids.size or text.size < _LONG_WORDS * ends.size:
            return ends
        return self.kernels.find_apart(text, ends)

    def forget_words(self) -> None:
        """Free the word caches of threads that are not encoding; new ones fill as they encode."""
        self.kernels.forget_words()

    def to_list(self, ids: Ids) -> list[int]:
        """Return ids as a list of ints, one shared object per id: half tolist's time and memory."""
        if self._objects is None:
            if len(ids) < _MIN_IDS_TO_SHARE:
                return ids.tolist()
            self._objects = np.arange(len(self.kernels.spelling.width)).astype(object)
        return self._objects.take(ids).tolist()

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint8] | None:
        """Return the bytes that `ids` decode to, as uint8; None if any id is invalid."""
        known = as_int32(ids)
        return None if known is None else self.kernels.decode(known)

    def _encode_by_regex(self, text: str, left_out: bytes = b"") -> Ids:
        block, ends = one_block([text]), self._pretokenizer.byte_ends(text)
        return self._run(*(_without(left_out, block, ends) if left_out else (block, ends)))[0]

    def _leave_out(
        self, left_out: bytes, block: Block, find_ends: Callable[[Block], NDArray[np.int64]]
    ) -> tuple[Block, NDArray[np.int64]]:
        """Return a block without these bytes, as one section, and where its words end then."""
        begin, end = int(block.bounds[0]), int(block.bounds[-1])
        block = Block(block.text[begin:end], block.bounds - begin)
        return _without(left_out, block, find_ends(block))

    def _run(
        self, block: Block, ends: NDArray[np.int64] = _NO_ENDS, *, left_out: bytes = b""
    ) -> Encoded:
        """Encode the sections of a block, without the threads that blocks of a long text need."""
        if left_out:
            with self.kernels.borrowed_worker() as worker:
                block, ends = self._leave_out(left_out, block, worker.find_ends)
        return self.kernels.encode(block, ends)


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


def kept_tables(table: TokenTable, pretokenizer: Pretokenizer) -> EncoderTables:
    """Return the kernels' tables for a table with a name; a machine builds them once."""
    made_from = f"{table.kept_as} {pretokenizer.cut} {Kept.hash_package()}"
    key = hashlib.sha256(made_from.encode()).hexdigest()
    kept = Kept.find(key)
    if kept is None:
        kept = Kept({}, EncoderTables.build(table, pretokenizer.scanner()).pack())
        kept.keep(key)
    return EncoderTables.unpack(kept.arrays)


def compile_all() -> None:
    """Compile every kernel that this module uses, by using it."""
    from bpe_core.pretokenizers import get_pretokenizer
    from bpe_core.tokenizer.steps import IsolatingPretokenizer

    table = TokenTable(vocab={byte: bytes([byte]) for byte in range(256)}, merges=[])
    encoder = CompiledEncoder(table, get_pretokenizer("gpt2"))
    encoder.decode(encoder.encode("hug hugs"))
    encoder.encode("hug\thugs", left_out=b"\t")
    encoder.encode_words([b"hug" * _LONG_WORDS])
    CompiledEncoder(table, IsolatingPretokenizer("sentencepiece", {"<b>": 256}))
    encoder.kernels.enlarge_caches()
