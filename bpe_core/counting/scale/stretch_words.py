"""Count the words of one stretch, and keep them in the work folder, divided by hash."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting.counts_file import find_characters
from bpe_core.counting.pieces import count_in_runs
from bpe_core.counting.scale.word_parts import import_arrow, write_words
from bpe_core.kernels.compiling.choose import wait_for_kernels, worth_waiting_for
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.scale.documents import StretchReading
from bpe_core.scale.stretches import Stretch
from bpe_core.scale.work_folder import Record, WorkFolder
from bpe_core.types import PretokenCounts
from bpe_core.unicode.utf8_states import AFTER_WORD

# A change to how words are counted or kept makes parts in older work folders unusable.
_VERSION: Final = 1


_POWERS: Final = np.cumprod(np.full(256, 0x9E3779B97F4A7C15, np.uint64))


class StretchToCount(NamedTuple):
    """A stretch, and the number of shards into which its words are divided."""

    stretch: Stretch
    n_shards: int

    @property
    def key(self) -> str:
        """A name that is the same only for the same words, divided in the same way."""
        described = f"{_VERSION} {self.n_shards} {self.stretch.key}"
        return hashlib.sha256(described.encode()).hexdigest()[:32]


def count_stretch(task: StretchToCount, folder: WorkFolder, n_threads: int | None) -> Record:
    """Count a stretch into a part of the work folder; return the part's record.

    Each run of `run_bytes` makes a batch of words for each shard. Raises what reading raises.
    """
    stretch = task.stretch
    if worth_waiting_for(stretch.n_bytes):
        # This compiles in other processes, so this one keeps answering the scheduler.
        logging.getLogger("distributed.worker").info("Compiling the engine, once on this machine")
        wait_for_kernels()
    pretokenizer = get_pretokenizer(stretch.pretokenizer)
    reader = StretchReading(stretch, collect_characters=pretokenizer.drops_text)
    record: Record = {"n_runs": 0, "n_occurrences": 0, "n_words": 0}
    arrow = import_arrow().arrow

    def batches() -> Iterator[Any]:
        for words in count_in_runs(
            reader.documents(),
            stretch.n_bytes,
            pretokenizer,
            run_bytes=stretch.run_bytes,
            n_threads=n_threads,
        ):
            text = words.letters.tobytes().replace(bytes([AFTER_WORD]), b"")
            reader.characters.update(find_characters([text]))
            yield from _divide(words, record["n_words"], task.n_shards, arrow)
            record["n_runs"] += 1
            record["n_words"] += words.n_words
            record["n_occurrences"] += words.total
        record.update(
            n_bytes=reader.n_bytes,
            n_documents=reader.n_documents,
            n_skipped=reader.n_skipped,
            n_replaced=reader.n_replaced,
            notes=reader.notes,
            sha256=reader.sha256,
            characters="".join(sorted(reader.characters)),
        )

    return write_words(folder, task.key, batches(), record)


def find_shards(letters: NDArray[np.uint8], n_shards: int) -> NDArray[np.int64]:
    r"""Return the shard of each word: the same in every process and on every machine.

    letters: uint8[n], AFTER_WORD after each word.

    >>> find_shards(np.frombuffer(b"hug\xff hug\xff", np.uint8), 64).tolist()
    [12, 33]
    """
    ends = np.flatnonzero(letters == AFTER_WORD)
    starts = np.append(0, ends + 1)[:-1]
    places = np.arange(len(letters)) - np.repeat(starts, ends + 1 - starts)
    # A polynomial of the letters, of which the high bits depend on all of them.
    terms = letters * _POWERS[places % len(_POWERS)]
    return (np.add.reduceat(terms, starts) >> np.uint64(40)).astype(np.int64) % n_shards


def _divide(found: PretokenCounts, n_before: int, n_shards: int, arrow: Any) -> Iterator[Any]:
    """Yield a batch for each shard, with the words in the order of first occurrence."""
    letters = found.letters
    shards = find_shards(letters, n_shards)
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(n_shards + 1))
    ends = np.flatnonzero(letters == AFTER_WORD)
    offsets = np.append(0, ends - np.arange(len(ends)))
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(letters[letters != AFTER_WORD])]
    words = arrow.Array.from_buffers(arrow.large_binary(), len(ends), buffers)
    columns = [words.take(arrow.array(order)), found.counts[order], order + n_before]
    batch = arrow.record_batch(columns, ["word", "count", "first"])
    for begin, end in pairwise(bounds.tolist()):
        yield batch.slice(begin, end - begin)
