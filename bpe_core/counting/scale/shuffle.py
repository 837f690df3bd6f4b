"""Add up the words of one shard over all stretches: one worker, a bounded part of the words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from bpe_core.corpus.urls import reading
from bpe_core.counting.counts_file import add_up
from bpe_core.counting.scale.word_parts import import_arrow, schema, write_words
from bpe_core.scale.work_folder import Record, WorkFolder

_MIN_ROWS: Final = 1 << 20
_WORDS_OF_A_STRETCH: Final = 1 << 40


class Shard(NamedTuple):
    """What one worker adds up."""

    key: str
    number: int
    n_shards: int
    parts: tuple[tuple[str, int], ...]
    """The files of words of all stretches in order, and the number of runs in each."""
    floor: int


def reduce_shard(shard: Shard, folder: WorkFolder) -> Record:
    """Add up a shard's words, drop those below the floor, and keep the rest in the work folder."""
    arrow, compute, ipc = import_arrow()
    total: Any = schema().empty_table()
    pending: list[Any] = []
    n_rows = 0
    for place, (name, n_runs) in enumerate(shard.parts):
        with reading(folder.path(name)) as file:
            words = ipc.open_file(file)
            for run in range(n_runs):
                batch = words.get_batch(run * shard.n_shards + shard.number)
                firsts = compute.add(batch["first"], place * _WORDS_OF_A_STRETCH)
                columns = [batch["word"], batch["count"], firsts]
                pending.append(arrow.table(columns, schema=schema()))
                n_rows += batch.num_rows
        # Sizes at least double, so each row is added up only a few times.
        if n_rows > max(_MIN_ROWS, total.num_rows):
            total = add_up(arrow.concat_tables([total, *pending]), folder.url)
            pending, n_rows = [], 0
    total = add_up(arrow.concat_tables([total, *pending]), folder.url)
    counts = total["count"].to_numpy()
    kept = counts >= shard.floor
    record = {
        "n_words": int(kept.sum()),
        "dropped_words": int((~kept).sum()),
        "dropped_occurrences": int(counts[~kept].sum()),
    }
    batches = total.filter(arrow.array(kept)).to_batches()
    return write_words(folder, shard.key, batches, record)


def iterate_words(folder: WorkFolder, name: str) -> Iterator[Any]:
    """Yield the table of a shard that was added up, if it has any words."""
    with reading(folder.path(name)) as file:
        table = import_arrow().ipc.open_file(file).read_all()
        if table.num_rows:
            yield table
