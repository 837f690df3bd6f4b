"""Write tables as CSV that spreadsheets open without running anything."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

Cell = str | int | float | None


def csv_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return a table as CSV in UTF-8 with a mark; unknown figures are empty.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> csv_table(["name", "share"], [("=cmd()", 0.5), ("b", float("nan"))]).decode("utf-8-sig")
    "name,share\\r\\n'=cmd(),0.5\\r\\nb,\\r\\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in rows)
    return buffer.getvalue().encode("utf-8-sig", "replace")


def _cell(value: Cell) -> Cell:
    if isinstance(value, float):
        return "" if math.isnan(value) else str(float(value)).removesuffix(".0")
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value
