"""Limit what files may take once they are unpacked, however small they are when packed."""

from __future__ import annotations

import gzip
import io
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, Final

from bpe_core.errors import UnsupportedFileError

MAX_UNPACKED_BYTES: Final = 512 * 2**20
# Text compresses to a tenth, logs and tables to a fiftieth. Below a hundredth it is one line
# repeated, which is harmless only while it is small.
MAX_UNPACKING_RATIO: Final = 100
FREELY_UNPACKED_BYTES: Final = 16 * 2**20
MAX_ROWS: Final = 4_000_000
# A row takes two bytes or more unless it is packed, and ten or more if it holds a sentence.
FREE_ROWS: Final = 250_000
_BYTES_FOR_ROW: Final = 2
MAX_COLUMNS: Final = 50_000
MAX_CELLS: Final = 1_000_000
"""The most values in one row of a csv or tsv file."""
MAX_JSON_VALUES: Final = 20_000_000
"""The most values in memory at a time, in a JSON file or one line of a jsonl file."""
MAX_SECONDS_APART: Final = 60.0
"""How long all files that are read in their own processes may take together."""
SECONDS_TO_DESCRIBE: Final = 10.0
"""The same if only the columns of the first tables are described."""
_CHUNK: Final = 1 << 20


class Budget:
    """What one reading may still take: unpacked bytes, bytes of text from tables, and rows.

    Archives may together unpack to `MAX_UNPACKED_BYTES`, and each source to `MAX_UNPACKING_RATIO`
    times its size or to `FREELY_UNPACKED_BYTES`, whichever is more. All tables together can have
    `MAX_ROWS` rows and twice `MAX_UNPACKED_BYTES` of text, and each source `FREE_ROWS` rows or
    one for every two of its bytes. Parquet files may together take `MAX_SECONDS_APART`: each has a
    limit of its own, but an archive may have thousands. `take` methods raise UnsupportedFileError.

    >>> budget = Budget()
    >>> budget.begin(1_000)
    >>> budget.take_rows(250_001, "a.csv")
    Traceback (most recent call last):
    bpe_core.errors.UnsupportedFileError: a.csv has more than 250,000 rows once unpacked, from \
1,000 bytes, as only nearly empty rows do. Unpack it first, and leave out rows without text.
    """

    def __init__(self, *, seconds_apart: float | None = None) -> None:
        self._unpacked = MAX_UNPACKED_BYTES
        self._written_out = 2 * MAX_UNPACKED_BYTES
        self._rows = MAX_ROWS
        self._seconds_apart = MAX_SECONDS_APART if seconds_apart is None else seconds_apart
        self.begin(0)

    def begin(self, n_bytes: int) -> None:
        """Start a new source of `n_bytes`."""
        self._size = n_bytes
        self._unpacked_of_source = max(FREELY_UNPACKED_BYTES, MAX_UNPACKING_RATIO * n_bytes)
        self._rows_of_source = self._max_rows = max(FREE_ROWS, n_bytes // _BYTES_FOR_ROW)

    def read(self, stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
        """Read a packed stream to its end."""
        # Its bytes are not copied on the way out, unlike when chunks are joined.
        unpacked = io.BytesIO()
        while chunk := stream.read(min(_CHUNK, self._unpacked + 1, self._unpacked_of_source + 1)):
            self._unpacked -= len(chunk)
            self._unpacked_of_source -= len(chunk)
            if self._unpacked < 0:
                raise UnsupportedFileError(
                    f"{name} exceeds the {MAX_UNPACKED_BYTES:,} bytes that may be unpacked at "
                    "a time. Give fewer or smaller files."
                )
            if self._unpacked_of_source < 0:
                raise UnsupportedFileError(
                    f"{name} unpacks to more than {MAX_UNPACKING_RATIO} times its size, as only "
                    "very repetitive text does. Unpack it first if you want to train on it."
                )
            unpacked.write(chunk)
        return unpacked.getvalue()

    def take_rows(self, n_rows: int, name: str) -> None:
        """Count rows of a table, those without text included."""
        self._rows -= n_rows
        self._rows_of_source -= n_rows
        if self._rows < 0:
            raise UnsupportedFileError(
                f"{name} exceeds the {MAX_ROWS:,} rows that are read at a time. Split it, or give "
                "fewer files."
            )
        if self._rows_of_source < 0:
            raise UnsupportedFileError(
                f"{name} has more than {self._max_rows:,} rows once unpacked, from "
                f"{self._size:,} bytes, as only nearly empty rows do. Unpack it first, and leave "
                "out rows without text."
            )

    @contextmanager
    def take_time(self, name: str) -> Generator[None]:
        """Count the time of the block, which reads a file in its own process.

        Raises UnsupportedFileError before the block if none is left.
        """
        if self._seconds_apart <= 0:
            raise UnsupportedFileError(
                f"{name} was not read, because the Parquet files before it took "
                f"{MAX_SECONDS_APART:.0f} seconds. Give fewer files at a time."
            )
        started = time.monotonic()
        try:
            yield
        finally:
            self._seconds_apart -= time.monotonic() - started

    def take_text(self, n_bytes: int, name: str) -> None:
        """Count bytes of text that a table holds packed, as Parquet files do."""
        self._written_out -= n_bytes
        if self._written_out < 0:
            raise UnsupportedFileError(
                f"{name} exceeds the {2 * MAX_UNPACKED_BYTES:,} bytes of text that are read from "
                "tables at a time. Split it, or give fewer files."
            )


def too_many_columns(name: str) -> UnsupportedFileError:
    """Return the error for a table with more than `MAX_COLUMNS` columns.

    >>> print(too_many_columns("a.csv"))
    a.csv has more than 50,000 columns. Keep the column of text and a few others.
    """
    return UnsupportedFileError(
        f"{name} has more than {MAX_COLUMNS:,} columns. Keep the column of text and a few others."
    )
