"""Count the words of one stretch, and keep them in the work folder, divided by hash."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np

from bpe_core.counting.counts_file import find_characters
from bpe_core.counting.pieces import count_in_runs
from bpe_core.counting.scale.word_parts import N_SHARDS, import_arrow, write_words
from bpe_core.kernels.compiling.choose import wait_for_kernels, worth_waiting_for
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.scale.documents import StretchReading
from bpe_core.scale.stretches import Stretch
from bpe_core.scale.work_folder import Record, WorkFolder
from bpe_core.types import PretokenCounts


def count_stretch(stretch: Stretch, folder: WorkFolder, n_threads: int | None) -> Record:
    """Count a stretch into a part of the work folder; return the part's record.

    Each run of `stretch.run_bytes` makes N_SHARDS batches of words. Raises what reading raises.
    """
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
            reader.characters.update(find_characters(words.words))
            yield from _shards(words, record["n_words"], arrow)
            record["n_runs"] += 1
            record["n_words"] += len(words.words)
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

    return write_words(folder, stretch.key, batches(), record)


def find_shard(word: bytes) -> int:
    """Return the shard of a word: the same in every process and on every machine.

    >>> find_shard(b"hug"), find_shard(b" hug")
    (2, 50)
    """
    return crc32(word) % N_SHARDS


def _shards(found: PretokenCounts, n_before: int, arrow: Any) -> Iterator[Any]:
    """Yield a batch for each shard, with the words in the order of first occurrence."""
    words = arrow.array(found.words, arrow.large_binary())
    shards = np.fromiter(map(find_shard, found.words), np.int64, len(found.words))
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(N_SHARDS + 1)).tolist()
    for shard in range(N_SHARDS):
        rows = order[bounds[shard] : bounds[shard + 1]]
        yield arrow.record_batch(
            [words.take(arrow.array(rows)), arrow.array(found.counts[rows]), rows + n_before],
            ["word", "count", "first"],
        )
