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

from bpe_core.corpus.archives import Budget
from bpe_core.corpus.columns import TableColumns
from bpe_core.corpus.parquet import (
    Texts,
    check_marks,
    open_parquet,
    refuse_counts,
)
from bpe_core.corpus.rows import OnPart
from bpe_core.corpus.text_decoding import REPLACING, DecodingErrors
from bpe_core.errors import ProcessError, TextDecodingError, UnsupportedFileError
from bpe_core.extras import needs_extra
from bpe_core.processes import Limits

with needs_extra("tables", "Reading a Parquet file"):
    from bpe_core.processes import call, stream

_MAX_BYTES: Final = 3 * 2**29
_MAX_FILE_RATIO: Final = 2
_MAX_PROCESSOR_SECONDS: Final = 30
# More than the processor time, because the processor may be shared with many.
_MAX_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class ParquetFacts:
    """What a Parquet file has besides text; a dataclass, so that it is no array like `Texts`."""

    columns: TableColumns
    """Described by a sample."""
    column: str
    """The one that is read."""
    n_rows: int
    """The number of all rows."""


class ParquetTexts(NamedTuple):
    """The texts of one column of a Parquet file."""

    facts: ParquetFacts
    rows: list[int]
    """The rows with text, from 1."""
    texts: list[str]
    n_replaced: int
    """The number of texts in which bytes were replaced."""


def read_parquet(
    data: bytes,
    name: str,
    text_column: str | None,
    budget: Budget,
    report: OnPart,
    errors: DecodingErrors = "strict",
) -> ParquetTexts:
    """Describe the columns of a Parquet file, and read one: the named one, or the default.

    Raises CorpusError for a missing column, UnsupportedFileError and MissingExtraError.
    """
    rows: list[int] = []
    texts: list[str] = []
    n_replaced = 0
    asked = _array(data, name), name, text_column, errors
    with (
        _within_limits(data, name, budget) as limits,
        closing(stream(read_column, *asked, limits=limits)) as batches,
    ):
        facts = next(batches)
        assert isinstance(facts, ParquetFacts)
        for batch in batches:
            assert isinstance(batch, Texts)
            budget.take_rows(len(batch.rows), name)
            budget.take_text(len(batch.data), name)
            start = 0
            # Repeated values, common in columns of categories, become one string.
            known: dict[bytes, str] = {}
            for row, length in zip(batch.rows.tolist(), batch.lengths.tolist(), strict=True):
                value = batch.data[start : start + length].tobytes()
                start += length
                if value not in known:
                    try:
                        known[value] = value.decode()
                    except UnicodeDecodeError:
                        if errors == "strict":
                            raise TextDecodingError(
                                f"{name} has text in the column {facts.column!r:.60} that is not "
                                f"valid UTF-8, in row {row:,}. Export it again, or {REPLACING}."
                            ) from None
                        n_replaced += 1
                        known[value] = value.decode(errors="replace")
                rows.append(row)
                texts.append(known[value])
            report(min(1.0, batch.n_rows / max(1, facts.n_rows)))
    return ParquetTexts(facts, rows, texts, n_replaced)


def describe_parquet(data: bytes, name: str, *, budget: Budget) -> TableColumns:
    """Describe the columns of a Parquet file by a sample of it.

    Raises UnsupportedFileError and MissingExtraError.
    """
    with _within_limits(data, name, budget) as limits:
        return call(describe_parquet_columns, _array(data, name), name, limits=limits)


def describe_parquet_columns(data: NDArray[np.uint8], name: str) -> TableColumns:
    """Describe the columns of a Parquet file; `describe_parquet` calls this in a process."""
    # Columns are described without a choice of what becomes of bad bytes.
    file = open_parquet(data, name, "replace")
    refuse_counts(file.columns, name)
    return file.describe()


def read_column(
    data: NDArray[np.uint8], name: str, column: str | None, errors: DecodingErrors = "strict"
) -> Iterator[ParquetFacts | Texts]:
    """Yield what a Parquet file has, then the texts of a column, or of the default one."""
    file = open_parquet(data, name, errors)
    columns, column = file.choose(column)
    yield ParquetFacts(columns, column, file.file.metadata.num_rows)
    yield from file.texts(column)


def _array(data: bytes, name: str) -> NDArray[np.uint8]:
    """Return a file as an array, which is passed to a process without a copy."""
    with needs_extra("tables", f"Reading {name}"):
        # The process imports it; here it would only take time and memory.
        if find_spec("pyarrow") is None:
            raise ModuleNotFoundError("No module named 'pyarrow'")
    check_marks(data, name)
    return np.frombuffer(data, np.uint8)


@contextmanager
def _within_limits(data: bytes, name: str, budget: Budget) -> Generator[Limits]:
    """Yield the limits of the process that reads a file, and count its time."""
    limits = Limits(_MAX_SECONDS, _MAX_BYTES + _MAX_FILE_RATIO * len(data), _MAX_PROCESSOR_SECONDS)
    try:
        with budget.take_time(name):
            yield limits
    except ProcessError:
        assert limits.memory is not None
        raise UnsupportedFileError(
            f"{name} takes too much memory or time to unpack: more than "
            f"{limits.memory / Limits.GB:.1f} GB or {_MAX_PROCESSOR_SECONDS} seconds. Split it, or "
            "export it again with smaller row groups."
        ) from None
