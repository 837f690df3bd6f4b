"""Draw the table of which library opens which download, and with the same ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from bpe_core.formats.checking.opened_elsewhere import Opened, short_version
from bpe_core.formats.checking.readers import find_reader, installed_version, list_readers
from bpe_core.formats.load_save import Format
from ui.components.figures import FigureRow, figure_table
from ui.look.labels import plain_markdown
from ui.run.downloads import Download
from ui.run.opened import Checked
from ui.work.task import Status

_EXPLAINED: Final = (
    "✓ The same ids for that many tokens: a probe of many scripts, then this run’s text. "
    "✗ Other ids after that many tokens, or not opened."
)


def show_opens_in(
    offered: Sequence[Download], status: Status[Checked, Checked] | None, key: str
) -> None:
    """Draw a row for each download and installed library that reads it."""
    checked = None if status is None else status.result or status.progress
    is_live = status is not None and status.is_live
    results: Mapping[tuple[Format, str], Opened] = {} if checked is None else checked.by_library
    pairs = [
        (download, library, version)
        for download in offered
        for library in list_readers(download.format)
        if (version := installed_version(library)) is not None
    ]
    st.markdown("**Opens in**")
    figure_table(
        ["Same ids"],
        [
            FigureRow(
                f"{download.label} in {library} {short_version(version)}",
                (cell(results.get((download.format, library)), is_live=is_live),),
            )
            for download, library, version in pairs
        ],
        caption="Which library opens which download with the same ids",
        key=f"{key}_opens_in",
    )
    st.markdown(f":small[:gray[{_EXPLAINED}]]")
    for download, library, _ in pairs:
        opened = results.get((download.format, library))
        # The result for a download in its own library is shown next to its button.
        is_said = library == find_reader(download.format).library
        if opened is not None and not opened.is_same and not is_said:
            sentence = plain_markdown(f"{download.label}: {opened.sentence}", 600)
            st.markdown(f":small[:gray[{sentence}]]")


def cell(opened: Opened | None, *, is_live: bool) -> str:
    """Return the result of opening a format in a library, in a few characters.

    >>> cell(None, is_live=True), cell(Opened("gguf", "0.19.0", 1_234), is_live=False)
    ('…', '✓ 1,234')
    """
    if opened is None:
        return "…" if is_live else "not checked"
    if opened.version is None:
        return "not installed"
    if opened.needs:
        return f"needs {opened.needs}"
    if opened.problem is not None:
        return "✗ not opened"
    return f"{'✓' if opened.is_same else '✗'} {opened.n_tokens:,}"
