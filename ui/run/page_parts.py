"""Draw what parts of pages share: titles, figures with units, downloads, tables as CSV, shares."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import streamlit as st

from bpe_core.corpus import WITHOUT_TYPE, Composition, FileShare
from ui.components import ChartPicture, ShareBar, draw_chart_pictures, draw_share_bars


def draw_title(title: str, what: str, *, help: str | None = None) -> None:
    """Draw a picture's title, and a line on what it shows; `help` is a tooltip."""
    st.markdown(f"**{title}**  \n:small[:gray[{what}]]", help=help)


def draw_figure(
    label: str, value: str, unit: str, *, width: int = 100, help: str | None = None
) -> None:
    """Draw a number under its name and over its unit; `help` is a tooltip of the name."""
    with st.container(gap=None, width=width):
        st.metric(label, value, help=help, width="stretch")
        st.markdown(f":small[:gray[{unit}]]")


def offer_csv(
    table: Callable[[], str | bytes],
    file_name: str,
    *,
    key: str,
    label: str = "CSV",
    help: str | None = None,
    disabled: bool = False,
) -> None:
    """Draw a button that downloads a table, made on click; `help` says what the table contains."""
    st.download_button(
        label,
        table,
        file_name=file_name,
        mime="text/csv",
        on_click="ignore",
        key=key,
        help=help,
        disabled=disabled,
    )


def offer_pictures(pictures: Sequence[ChartPicture], *, key: str) -> None:
    """Draw buttons that download charts as PNG."""
    with st.container(width="content", key=f"{key}_pictures"):
        draw_chart_pictures(pictures, key=key)


TRAINING, HELD_OUT = "Training text", "Held out"
_MAX_FILES: Final = 12
_OTHER_FILES: Final = "other files"


def composition_groups(
    training: Composition, held_out: Composition | None
) -> Sequence[tuple[str, Sequence[ShareBar]]]:
    """Return the bars by script, and by file type and file if there are several.

    Files that are the only one of their type are not repeated, and documents that are not
    files, such as pasted text, have no bars.
    """
    texts = [(TRAINING, training), *([(HELD_OUT, held_out)] if held_out is not None else [])]
    groups = [
        (
            "By script, in characters",
            [
                ShareBar(name, [(part.name, part.share) for part in found.scripts])
                for name, found in texts
            ],
        )
    ]
    types, files = training.types, training.files
    if len(types) > 1:
        bars = [
            ShareBar(name, [(part.name, part.share) for part in found.types])
            for name, found in texts
        ]
        groups.append(("By file type, in bytes", bars))
    are_files = any(part.name != WITHOUT_TYPE for part in types)
    if are_files and len(files) > len(types):
        largest = [part.name for part in files[:_MAX_FILES]]
        bars = [ShareBar(name, _largest_shares(largest, found.files)) for name, found in texts]
        groups.append(("By file, in bytes", bars))
    return groups


def show_composition(training: Composition, held_out: Composition | None, *, key: str) -> None:
    """Draw the bars."""
    draw_share_bars(key=key, groups=composition_groups(training, held_out))


def _largest_shares(names: Sequence[str], files: Sequence[FileShare]) -> list[tuple[str, float]]:
    """Return the shares of these files, and that of all others together if there are any."""
    share_of = {part.name: part.share for part in files}
    shares = [(name, share_of.pop(name, 0.0)) for name in names]
    # A stored run lists only its largest files, so the rest includes files that are not listed.
    rest = 1 - sum(share for _, share in shares)
    return [*shares, (_OTHER_FILES, rest)] if share_of else shares


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
