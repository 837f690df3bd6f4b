"""Read Parquet files in a separate process with little memory and little time.

A page of a Parquet file may unpack to gigabytes without anything in the file saying so: only a
limit on the whole process is reliable.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.budget import Budget
from bpe_core.corpus.columns import TableColumns
from bpe_core.corpus.parquet import (
    BYTES_DESCRIBED,
    Texts,
    check_marks,
    open_parquet,
    refuse_counts,
)
from bpe_core.corpus.rows import OnPart
from bpe_core.corpus.text_decoding import REPLACING, DecodingErrors
from bpe_core.errors import ProcessError, TextDecodingError, UnsupportedFileError
from bpe_core.extras import needs_extra
from bpe_core.processes.limits import GB, Limits

with needs_extra("tables", "Reading a Parquet file"):
    from bpe_core.processes.call import call, stream

_MAX_BYTES: Final = 3 * 2**29
_MAX_FILE_RATIO: Final = 2
_MAX_PROCESSOR_SECONDS: Final = 30
# More than the processor time, because the processor may be shared with many.
_MAX_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class ParquetFacts:
    """What a Parquet file has besides text."""

    columns: TableColumns
    """Described by a sample."""
    strings: tuple[str, ...]
    """The names of the columns that can be read."""
    n_rows: int


class TextRow(NamedTuple):
    """A row with text, and its number from 1."""

    number: int
    text: str


class ParquetRows:
    """The columns of a Parquet file, and the rows with text in one; see `opened_parquet`."""

    def __init__(
        self,
        described: ParquetFacts,
        batches: Iterator[ParquetFacts | Texts],
        name: str,
        text_column: str | None,
        budget: Budget,
        report: OnPart,
        errors: DecodingErrors,
    ) -> None:
        self._errors = errors
        self.n_replaced = 0
        """The number of texts in which bytes were replaced."""
        self._batches = batches
        self._name = name
        self._budget = budget
        self._report = report
        self._n_rows_in_all = described.n_rows
        self.columns = described.columns
        self.strings = described.strings
        self.column = _column_read(described.columns, text_column)
        """The column that is read: the one asked for, or else the default one."""
        self.n_rows = 0
        """The number of rows read so far, those without text included."""

    def __iter__(self) -> Iterator[TextRow]:
        """Yield rows; raises UnsupportedFileError."""
        for batch in self._batches:
            assert isinstance(batch, Texts)
            self.n_rows = batch.n_rows
            data = batch.data.data
            self._budget.take_rows(len(batch.rows), self._name)
            self._budget.take_text(len(data), self._name)
            start = 0
            # Repeated values, common in columns of categories, become one string.
            known: dict[bytes, str] = {}
            for row, length in zip(batch.rows.tolist(), batch.lengths.tolist(), strict=True):
                value = bytes(data[start : start + length])
                start += length
                if (text := known.get(value)) is None:
                    text = known[value] = self._decoded(value, row)
                yield TextRow(row, text)
            self._report(min(1.0, self.n_rows / max(1, self._n_rows_in_all)))

    def _decoded(self, value: bytes, row: int) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError:
            if self._errors == "replace":
                self.n_replaced += 1
                return value.decode(errors="replace")
            raise TextDecodingError(
                f"{self._name} has text in the column {self.column!r:.60} that is not valid "
                f"UTF-8, in row {row:,}. Export it again, or {REPLACING}."
            ) from None


@contextmanager
def opened_parquet(
    data: bytes,
    name: str,
    text_column: str | None,
    budget: Budget,
    report: OnPart,
    *,
    errors: DecodingErrors = "strict",
) -> Generator[ParquetRows]:
    """Describe the columns of a Parquet file, and read one of them while iterated over.

    Raises UnsupportedFileError and MissingExtraError.
    """
    _check(data, name)
    limits = _limits(data)
    with (
        budget.take_time(name),
        _limits_named(name, limits),
        closing(
            stream(read_column, _array(data), name, text_column, errors, limits=limits)
        ) as batches,
    ):
        described = next(batches)
        assert isinstance(described, ParquetFacts)
        yield ParquetRows(described, batches, name, text_column, budget, report, errors)


def describe_parquet(
    data: bytes, name: str, *, budget: Budget, max_bytes: int = BYTES_DESCRIBED
) -> TableColumns:
    """Describe the columns of a Parquet file by a sample of about `max_bytes`.

    Raises UnsupportedFileError and MissingExtraError.
    """
    _check(data, name)
    limits = _limits(data)
    with budget.take_time(name), _limits_named(name, limits):
        return call(describe_parquet_columns, _array(data), name, max_bytes, limits=limits)


def describe_parquet_columns(data: NDArray[np.uint8], name: str, max_bytes: int) -> TableColumns:
    """Describe the columns of a Parquet file; `describe_parquet` calls this in a process."""
    # Columns are described without a choice of what becomes of bad bytes.
    file = open_parquet(data, name, "replace")
    refuse_counts(file.columns, name)
    return file.describe(max_bytes)


def read_column(
    data: NDArray[np.uint8], name: str, column: str | None, errors: DecodingErrors = "strict"
) -> Iterator[ParquetFacts | Texts]:
    """Yield what a Parquet file has, then the texts of a column, or of the default one."""
    file = open_parquet(data, name, errors)
    if column is None:
        refuse_counts(file.columns, name)
    columns = file.describe()
    yield ParquetFacts(columns, file.strings, file.file.metadata.num_rows)
    column = _column_read(columns, column)
    if column in file.strings:
        yield from file.texts(column)


def _column_read(columns: TableColumns, asked: str | None) -> str | None:
    chosen = columns.chosen.name if columns.chosen else None
    return chosen if asked is None else asked


def _check(data: bytes, name: str) -> None:
    with needs_extra("tables", f"Reading {name}"):
        # The process imports it; here it would only take time and memory.
        if find_spec("pyarrow") is None:
            raise ModuleNotFoundError("No module named 'pyarrow'")
    check_marks(data, name)


def _array(data: bytes) -> NDArray[np.uint8]:
    """Return bytes as an array, which is passed to a process without a copy."""
    return np.frombuffer(data, np.uint8)


def _limits(data: bytes) -> Limits:
    memory = _MAX_BYTES + _MAX_FILE_RATIO * len(data)
    return Limits(_MAX_SECONDS, memory, _MAX_PROCESSOR_SECONDS)


@contextmanager
def _limits_named(name: str, limits: Limits) -> Generator[None]:
    try:
        yield
    except ProcessError:
        assert limits.memory is not None
        raise UnsupportedFileError(
            f"{name} takes too much memory or time to unpack: more than "
            f"{limits.memory / GB:.1f} GB or {_MAX_PROCESSOR_SECONDS} seconds. Split it, or "
            "export it again with smaller row groups."
        ) from None
