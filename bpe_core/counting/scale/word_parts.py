"""Write and read the words of a part in the work folder, divided into shards by hash."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final, NamedTuple

from bpe_core.extras import needs_extra
from bpe_core.scale.work_folder import Record, WorkFolder

_MIN_SHARDS: Final = 8
_MAX_SHARDS: Final = 64
_BYTES_OF_A_SHARD: Final = 1 << 29


def count_shards(n_bytes: int) -> int:
    """Return the number of shards into which a text's words are divided by hash.

    One worker at a time adds up each, so it bounds the memory of a worker.

    >>> count_shards(1 << 30), count_shards(10 << 30), count_shards(1 << 40)
    (8, 32, 64)
    """
    n_shards = _MIN_SHARDS
    while n_shards < _MAX_SHARDS and n_shards * _BYTES_OF_A_SHARD < n_bytes:
        n_shards *= 2
    return n_shards


class Arrow(NamedTuple):
    """The modules of Arrow that counting needs."""

    arrow: Any
    compute: Any
    ipc: Any


def import_arrow() -> Arrow:
    """Import Arrow; raises MissingExtraError if it is not installed."""
    with needs_extra("tables", "Counting in parts"):
        names = ("pyarrow", "pyarrow.compute", "pyarrow.ipc")
        return Arrow(*map(import_module, names))


def write_words(folder: WorkFolder, key: str, batches: Iterable[Any], record: Record) -> Record:
    """Write Arrow batches of words, and then the record of the part, which is returned.

    `record` is read only after all batches were written, so it may be filled meanwhile.
    """
    ipc = import_arrow().ipc
    name = folder.new_name(key, "arrow")
    options = ipc.IpcWriteOptions(compression="lz4")
    with (
        folder.writing(name) as file,
        ipc.new_file(file, schema(), options=options) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
    return folder.finish(key, {**record, "words": name}, [name])


def schema() -> Any:
    """Return the columns of all parts: words, counts, and order of first occurrence."""
    arrow = import_arrow().arrow
    return arrow.schema(
        [("word", arrow.large_binary()), ("count", arrow.int64()), ("first", arrow.int64())]
    )
