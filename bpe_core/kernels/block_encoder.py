"""Call the kernels that encode and decode, with the tables of one tokenizer.

Each thread borrows a worker, which has a word cache and buffers of its own; all enlarge their
arrays when a kernel runs out of room.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import encoding, for_callers, token_bytes
from bpe_core.kernels.encoder_tables import (
    EncoderTables,
    empty_cache,
    enter_added,
    larger_or_empty,
    new_words,
    scratch,
    twice_as_large,
)
from bpe_core.kernels.for_callers import longer
from bpe_core.kernels.mask_scanning import BEFORE_SPACES
from bpe_core.kernels.scanning import Block
from bpe_core.kernels.token_bytes import ROW
from bpe_core.kernels.word_cache import LONG_WORD, SLACK, CachedWords

Ids = NDArray[np.int32]
Encoded = tuple[Ids, NDArray[np.int64]]
"""The ids of several sections of text, and the running number of ids after each section."""

NO_ENDS: Final = np.empty(0, np.int64)

_LIKELY_BYTES: Final = 6
"""The expected average length of a token; if it is longer, decoding enlarges its buffer."""
_MAX_KEPT: Final = 1 << 21
"""The most ids of a worker's buffer that is kept for the next text: 8 MB."""
_SCAN_AHEAD: Final = 8192


class BlockEncoder:
    """Encode blocks of text; may be shared between threads."""

    def __init__(self, tables: EncoderTables, added: Mapping[str, int]) -> None:
        """Encode with these tables; `added` are the tokens found before the text is cut."""
        self.scanner, self.merges, _, self.trie = tables[:4]
        self.cuts = self.scanner  # the pattern's own, where bytes are left out after the cut
        if self.scanner.rules & BEFORE_SPACES and not tables.whole.ids.size:
            # A part that spells a whole word would be looked up as one.
            joined = self.merges.joined.view()
            joined.flags.writeable = False
            self.scanner = self.scanner._replace(joined=joined)
        self.added, self.whole = enter_added(added, tables)
        self.beginnings, self.spelling = tables.beginnings, tables.spelling
        self._longest = int(self.spelling.width.max())
        # Each thread borrows a worker with its own word cache. The first worker's cache already
        # holds the vocabulary; the others see enough text to fill theirs. A worker takes 5 to
        # 30 MB, so no more are kept than there are processors: those returned last.
        self._workers = deque([Worker(self, tables.cache)], maxlen=for_callers.n_threads())

    def encode(self, block: Block, ends: NDArray[np.int64] = NO_ENDS) -> Encoded:
        """Return the ids of a block's sections; its words end at `ends` if they are known."""
        with self.borrowed_worker() as worker:
            ids, section_ends = worker.write(block, ends)
            # A copy, because another thread may use the worker once it is given back.
            ids = ids.copy()
        return self.beginnings.spell_sections(ids, section_ends)

    def count_ids(self, ids: Ids, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many ids there are up to each of the ascending ends of words, in bytes.

        No token crosses the end of a word.
        """
        n_ids = np.empty(ends.size, np.int64)
        encoding.count_ids(ids, self.spelling.width, ends, n_ids)
        return n_ids

    def find_apart(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ends of words, and each byte that no token joins to the one before it."""
        found = np.empty(text.size, np.int64)
        return found[: encoding.find_apart(text, ends, self.merges.joined, found)]

    def decode(self, ids: Ids) -> NDArray[np.uint8] | None:
        """Return the bytes that `ids` decode to, as uint8; None if any id is invalid."""
        out = np.empty(_LIKELY_BYTES * len(ids) + self._longest + ROW, np.uint8)
        done, size = token_bytes.decode_ids(ids, 0, self.spelling, out, 0)
        while size >= 0 and done < len(ids):
            out = longer(out, 2 * len(out))
            done, size = token_bytes.decode_ids(ids, done, self.spelling, out, size)
        return out[:size] if size >= 0 else None

    def forget_words(self) -> None:
        """Free the word caches of threads that are not encoding; new ones fill as they encode."""
        self._workers.clear()

    def enlarge_caches(self) -> None:
        """Double the word caches of threads that are not encoding."""
        for worker in self._workers:
            worker.cache = twice_as_large(worker.cache)

    @contextmanager
    def borrowed_worker(self) -> Generator[Worker]:
        """Take a worker that no other thread has, and give it back in the end."""
        try:
            worker = self._workers.pop()
        except IndexError:
            worker = Worker(self, empty_cache())
        try:
            yield worker
        finally:
            worker.tidy()
            self._workers.append(worker)


class Worker:
    """One thread's state for encoding: a word cache, and buffers as long as the longest word."""

    def __init__(self, encoder: BlockEncoder, cache: CachedWords) -> None:
        self._encoder = encoder
        self._heap = not encoder.trie.symbol_at.size
        self.cache = cache
        self._out = np.empty(0, np.int32)
        self._scratch = scratch(_SCAN_AHEAD, heap=self._heap)
        self._new = new_words()

    def write(self, block: Block, ends: NDArray[np.int64]) -> Encoded:
        """Write the ids of a block to the buffer; return them, and where sections end.

        `ends` are the ends of its words if they are known: where there is no scanner for the
        pattern, where bytes were left out, or if the words were given.
        """
        encoder = self._encoder
        out = self._room_for(int(block.bounds[-1] - block.bounds[0]) + SLACK)
        section_ends = np.empty(len(block.bounds) - 1, np.int64)
        reached = np.array([0, block.bounds[0], 0, 0])
        while True:
            status = encoding.encode_text(
                encoder.scanner,
                block.text,
                block.bounds,
                ends,
                encoder.merges,
                encoder.whole,
                encoder.added,
                encoder.trie,
                self.cache,
                out,
                section_ends,
                self._scratch,
                self._new,
                reached,
            )
            if status == encoding.DONE:
                return out[: reached[2]], section_ends
            if status == encoding.CACHE_CROWDED:
                self.cache = twice_as_large(self.cache)
            else:
                self._grow()

    def find_ends(self, block: Block) -> NDArray[np.int64]:
        """Return where the words of a block end, by the pattern's own cuts."""
        found = np.empty(block.text.size, np.int64)
        reached = np.array([0, 0, 0])
        cuts = self._encoder.cuts
        while encoding.find_ends(cuts, block.text, block.bounds, found, self._scratch, reached):
            self._grow()
        return found[: reached[2]]

    def _room_for(self, n_ids: int) -> Ids:
        """Return an array to write ids to, reused if possible, because new memory is slow."""
        if n_ids > _MAX_KEPT:
            return np.empty(n_ids, np.int32)
        if n_ids > len(self._out):
            self._out = np.empty(n_ids, np.int32)
        return self._out

    def _grow(self) -> None:
        self._scratch = scratch(2 * len(self._scratch.ends), heap=self._heap)

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
        if len(self._scratch.ends) > 1 << 20:
            self._scratch = scratch(_SCAN_AHEAD, heap=self._heap)
