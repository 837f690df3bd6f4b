"""Keep columns of the source's rows next to the ids, and find those of a shard's documents."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a, several
from bpe_core.corpus import ROWS_DESCRIBED, listed, quoted, reading, shown
from bpe_core.errors import ArgumentTypeError, ConfigError, UnsupportedFileError
from bpe_core.extras import import_arrow
from bpe_core.scale import DescribedFile, Record, WorkFolder

IDS: Final = "input_ids"
N_TOKENS: Final = "n_tokens"
_MAX_NAMED: Final = 10

Values = Sequence[Sequence[str | None]]
"""What rows have in the columns that are kept."""


def check_columns(columns: Iterable[str], format: str, pack: int | None) -> tuple[str, ...]:
    """Return the names of columns to keep; raises ConfigError for ones that cannot be.

    >>> check_columns(["url"], "parquet", None)
    ('url',)
    """
    names = tuple(several(columns, "keep_columns", "give a list of names"))
    if others := [name for name in names if not is_a(name, str)]:
        raise ArgumentTypeError(f"Expected names of columns to keep, got {describe(others[0])}.")
    if names and (format != "parquet" or pack is not None):
        raise ConfigError(
            "Columns are kept in rows that are documents. Choose --format parquet without --pack, "
            "or omit keep_columns."
        )
    if taken := [name for name in names if name in (IDS, N_TOKENS) or names.count(name) > 1]:
        raise ConfigError(
            f"The column {quoted(taken[0])} would be written twice. Keep each column once, and "
            f"none named {IDS} or {N_TOKENS}, or rename it in the source."
        )
    return names


def check_files(columns: Sequence[str], files: Sequence[DescribedFile]) -> None:
    """Raise an error if columns cannot be kept from these files, whose columns were listed.

    It is UnsupportedFileError for a file without rows, and ConfigError for a column that a Parquet
    file lacks, or that the first rows of no file have.
    """
    if not columns:
        return
    for facts in files:
        name = shown(facts.source.url)
        if facts.source.kind not in ("jsonl", "parquet"):
            raise UnsupportedFileError(
                f"Columns are kept from Parquet and JSON lines, and {name} is neither. Convert it, "
                "leave it out, or omit keep_columns."
            )
        missing = [each for each in columns if each not in facts.names]
        if missing and facts.source.kind == "parquet":
            raise ConfigError(
                f"{name} has no column {quoted(missing[0])} to keep. {_name_columns(facts.names)}"
            )
    known = dict.fromkeys(name for facts in files for name in facts.names)
    for each in columns:
        if each not in known:
            raise ConfigError(
                f"No file has the column {quoted(each)} in its first {ROWS_DESCRIBED:,} rows. "
                f"{_name_columns([*known])}"
            )


def _name_columns(names: Sequence[str]) -> str:
    found = listed([quoted(name) for name in names], _MAX_NAMED) or "none"
    return f"Found: {found}. Check keep_columns."


@contextmanager
def writing_columns(file: BinaryIO, names: Sequence[str]) -> Generator[Callable[[Values], None]]:
    """Yield a function that writes the values of rows to a file, as Arrow's stream of strings."""
    arrow = _arrow()
    text = arrow.large_string()
    schema = arrow.schema([(name, text) for name in names])
    with arrow.ipc.new_stream(file, schema) as stream:

        def write(rows: Values) -> None:
            columns = [[row[place] for row in rows] for place in range(len(names))]
            arrays = [arrow.array(values, text) for values in columns]
            stream.write_batch(arrow.record_batch(arrays, schema=schema))

        yield write


def read_columns(folder: WorkFolder, stretches: Sequence[Record], pieces: NDArray[Any]) -> Any:
    """Return the values of documents as an Arrow table, in their order.

    `pieces` has the `file` of each, the place of its stretch, and its `row` there.
    """
    arrow = _arrow()
    tables: list[Any] = []
    order = np.empty(len(pieces), np.int64)
    n_rows = 0
    for number, record in enumerate(stretches):
        with reading(folder.path(record["columns"])) as file:
            table = arrow.ipc.open_stream(file).read_all()
        places = np.flatnonzero(pieces["file"] == number)
        tables.append(table.take(pieces["row"][places]))
        order[places] = np.arange(n_rows, n_rows + len(places))
        n_rows += len(places)
    joined = arrow.concat_tables(tables)
    # Only shuffled documents are in another order, and it takes a copy.
    return joined if np.array_equal(order, np.arange(n_rows)) else joined.take(order)


def _arrow() -> Any:
    return import_arrow("Keeping columns", "ipc")
