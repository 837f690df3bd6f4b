"""Draw the table of which library opens which download, and with the same ids."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.formats.load_save import Format
from bpe_core.formats.opened_elsewhere import Opened, Reader, short_version
from bpe_core.formats.reading_lines import LIBRARIES
from ui.components.figures import Row, figure_table
from ui.look.labels import plain_markdown
from ui.run.downloads import Download
from ui.run.opened import Checked
from ui.work.background import Status

NOT_READ = "–"
_EXPLAINED = (
    "✓ The same ids for that many tokens: a probe of many scripts, then this run’s text. "
    f"✗ Other ids after that many tokens, or not opened. {NOT_READ} Not a format of this reader."
)


def show_opens_in(
    offered: Sequence[Download], status: Status[Checked, Checked] | None, key: str
) -> None:
    """Draw a row for each download and a column for each library installed."""
    installed = {
        library: version
        for library in LIBRARIES
        if (version := Reader(library).version) is not None
    }
    checked = None if status is None else status.result or status.progress
    is_live = status is not None and status.is_live
    results = {} if checked is None else checked.by_library
    rows = [
        Row(
            download.label,
            tuple(
                cell(download.format, library, results.get((download.format, library)), is_live)
                for library in installed
            ),
        )
        for download in offered
    ]
    st.markdown("**Opens in**")
    figure_table(
        [f"{library} {short_version(version)}" for library, version in installed.items()],
        rows,
        caption="Which library opens which download with the same ids",
        key=f"{key}_opens_in",
    )
    st.markdown(f":small[:gray[{_EXPLAINED}]]")
    for download in offered:
        for library in installed:
            opened = results.get((download.format, library))
            if opened is not None and not opened.is_same:
                sentence = plain_markdown(f"{download.label}: {opened.sentence}", 600)
                st.markdown(f":small[:gray[{sentence}]]")


def cell(format: Format, library: str, opened: Opened | None, is_live: bool) -> str:
    """Return what came of opening a format in a library, in a few characters.

    >>> cell("gguf", "sentencepiece", None, True), cell("gguf", "gguf", None, True)
    ('–', '…')
    >>> cell("gguf", "gguf", Opened("gguf", "0.19.0", 1_234), False)
    '✓ 1,234'
    """
    if format not in LIBRARIES[library]:
        return NOT_READ
    if opened is None:
        return "…" if is_live else "not checked"
    if opened.version is None:
        return "not installed"
    if opened.needs:
        return f"needs {opened.needs}"
    if opened.problem is not None:
        return "✗ not opened"
    return f"{'✓' if opened.is_same else '✗'} {opened.n_tokens:,}"
