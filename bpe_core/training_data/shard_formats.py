"""Write the ids of one shard in the formats that training loops read."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import writing
from bpe_core.errors import ConfigError
from bpe_core.extras import import_arrow
from bpe_core.training_data.kept_columns import IDS, N_TOKENS

Format = Literal["bin", "megatron", "npy", "parquet"]
Dtype = Literal["<u2", "<u4", "<i4"]
Ids = NDArray[np.integer]

MEGATRON_DTYPES: Final = {"<u2": 8, "<i4": 4}
"""The codes in Megatron's index of the types of ids that are written here."""
_MEGATRON_MAGIC: Final = b"MMIDIDX\x00\x00"
_ROW_GROUP_TOKENS: Final = 1 << 20


class Rows(NamedTuple):
    """The ids of a shard as a stream, and the number of ids of each row of it."""

    ids: Iterator[Ids]
    """Arrays that end anywhere."""
    lengths: NDArray[np.int64]
    """int64[n]: of each document, or of each packed row."""
    row_tokens: int | None
    """The length of all rows if they are packed."""
    columns: Any = None
    """An Arrow table of strings with a row for each, which Parquet files get too, or None."""


def endings(format: Format) -> tuple[str, ...]:
    """Return the endings of the names of a shard's files.

    >>> endings("megatron")
    ('.bin', '.idx')
    """
    return (".bin", ".idx") if format == "megatron" else (f".{format}",)


def dtype_for(format: Format, n_ids: int) -> Dtype:
    """Return the type of the ids in a format's files, for ids below `n_ids`.

    >>> dtype_for("bin", 50_257), dtype_for("bin", 100_277), dtype_for("megatron", 100_277)
    ('<u2', '<u4', '<i4')
    """
    if format == "parquet":
        return "<i4"
    if n_ids <= 1 << 16:
        return "<u2"
    return "<i4" if format == "megatron" else "<u4"


def write_shard(format: Format, rows: Rows, dtype: str, place: str) -> dict[str, tuple[int, str]]:
    """Write a shard's files to a path or URL plus their endings; return their sizes and SHA-256.

    Raises CorpusError if they cannot be written.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(_hashed(place + ending)) for ending in endings(format)]
        _WRITERS[format](rows, dtype, *files)
    return {
        ending: (file.size, file.digest.hexdigest())
        for ending, file in zip(endings(format), files, strict=True)
    }


class _HashedFile(io.RawIOBase):
    """A file that is written from begin to end, and hashed meanwhile."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._file.write(view)
        self.digest.update(view)
        self.size += view.nbytes
        return view.nbytes


@contextmanager
def _hashed(url: str) -> Generator[_HashedFile]:
    with writing(url) as file:
        yield _HashedFile(file)


def _write_bin(rows: Rows, dtype: str, file: _HashedFile) -> None:
    for ids in rows.ids:
        file.write(np.ascontiguousarray(ids, dtype).data)


def _write_npy(rows: Rows, dtype: str, file: _HashedFile) -> None:
    shape = (len(rows.lengths), rows.row_tokens) if rows.row_tokens else (int(rows.lengths.sum()),)
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(cast("Any", file), header)
    _write_bin(rows, dtype, file)


def _write_megatron(rows: Rows, dtype: str, file: _HashedFile, index: _HashedFile) -> None:
    """Write Megatron's indexed dataset, in which each document is a sequence."""
    _write_bin(rows, dtype, file)
    n = len(rows.lengths)
    if n and rows.lengths.max() >= 1 << 31:
        raise ConfigError(
            f"A document has {rows.lengths.max():,} tokens, and Megatron's index counts up to "
            f"{(1 << 31) - 1:,}. Choose --pack, or another format."
        )
    starts = np.cumsum(rows.lengths) - rows.lengths
    index.write(_MEGATRON_MAGIC)
    index.write(np.array([1], "<u8").data)
    index.write(np.array([MEGATRON_DTYPES[dtype]], "u1").data)
    index.write(np.array([n, n + 1], "<u8").data)
    index.write(rows.lengths.astype("<i4").data)
    index.write((starts * np.dtype(dtype).itemsize).astype("<i8").data)
    index.write(np.arange(n + 1, dtype="<i8").data)


def _write_parquet(rows: Rows, dtype: str, file: _HashedFile) -> None:
    """Write `input_ids`, `n_tokens` and kept columns, a row for each document or packed row."""
    arrow = import_arrow("Writing parquet", "parquet")
    kept: dict[str, Any] = {}
    if rows.columns is not None:
        kept = {name: rows.columns.column(name) for name in rows.columns.column_names}
    schema = arrow.schema(
        [
            (IDS, arrow.list_(arrow.int32())),
            (N_TOKENS, arrow.int64()),
            *((name, arrow.string()) for name in kept),
        ]
    )
    ends = np.cumsum(rows.lengths)
    stream = _Stream(rows.ids)
    begin = n_taken = 0
    with arrow.parquet.ParquetWriter(
        file, schema, compression="zstd", use_dictionary=False
    ) as writer:
        while begin < len(ends):
            end = max(begin + 1, int(np.searchsorted(ends, n_taken + _ROW_GROUP_TOKENS, "right")))
            lengths = rows.lengths[begin:end]
            offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
            ids = arrow.array(stream.take(int(offsets[-1])).astype(np.int32))
            lists = arrow.ListArray.from_arrays(arrow.array(offsets), ids)
            values = [each.slice(begin, end - begin).combine_chunks() for each in kept.values()]
            arrays = [lists, arrow.array(lengths), *(each.cast(arrow.string()) for each in values)]
            writer.write_batch(arrow.record_batch(arrays, schema=schema))
            n_taken += int(offsets[-1])
            begin = end


class _Stream:
    """Arrays of ids that are taken in other lengths than they arrive in."""

    def __init__(self, arrays: Iterator[Ids]) -> None:
        self._arrays = arrays
        self._rest: Ids = np.empty(0, np.int32)

    def take(self, n: int) -> Ids:
        """Return the next n ids."""
        found = [self._rest]
        n_found = self._rest.size
        while n_found < n:
            found.append(next(self._arrays))
            n_found += found[-1].size
        ids = np.concatenate(found) if len(found) > 1 else found[0]
        self._rest = ids[n:]
        return ids[:n]


_WRITERS: Final[dict[str, Callable[..., None]]] = {
    "bin": _write_bin,
    "megatron": _write_megatron,
    "npy": _write_npy,
    "parquet": _write_parquet,
}
