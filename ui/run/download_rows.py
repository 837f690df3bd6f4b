"""Draw a row for each download: its button, the code that loads it, and whether it was opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import streamlit as st

from bpe_core.formats import Opened, find_reader, installed_version, list_readers, short_version
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import Format
from ui.components import FigureRow, figure_table
from ui.host import fragment
from ui.look import plain_markdown
from ui.run.download_part import (
    Checked,
    Download,
    check_formats,
    checks,
    encoding_command,
    tokenizer_downloads,
)
from ui.storage import StoredRun
from ui.work import SECONDS_BETWEEN_LOOKS, Status, TooMuchWorkError

_TOO_MANY = "Not checked yet: the server is busy with others. Reload the page to try again."
_EXPLAINED: Final = (
    "✓ The same ids for that many tokens: a probe of many scripts, then this run’s text. "
    "✗ Other ids after that many tokens, or not opened."
)


def offer_downloads(
    tokenizer: Tokenizer, stored: StoredRun, *, key: str, folds_others: bool = False
) -> None:
    """Offer a tokenizer in each format, and explain which formats cannot hold it.

    Each file is opened in the background by the library that it is meant for and by others that
    read it, with the texts of a run. With `folds_others`, only the first format is in view, with
    the command that comes next.
    """
    offered = tokenizer_downloads(tokenizer, stored.run)
    possible = [download for download in offered if download.data is not None]
    st.html(Path(__file__).with_suffix(".css"))
    try:
        status = check_formats(tokenizer, [download.format for download in possible], stored)
    except TooMuchWorkError:
        _rows(possible, None, key, folds_others)
    else:
        if status.is_live:
            _watch_rows(possible, status.id, key, folds_others)
        else:
            _rows(possible, status, key, folds_others)
    if folds_others:
        show_encoding_command(possible[0].file_name, tokenizer)
    missing = [download for download in offered if download.problem is not None]
    if missing:
        with st.expander("Formats that cannot hold this tokenizer"):
            for download in missing:
                st.markdown(
                    f"**{plain_markdown(download.label)}** "
                    f"{plain_markdown(download.problem or '', 600)}"
                )


def show_encoding_command(file_name: str, tokenizer: Tokenizer) -> None:
    """Show what comes next: the command that makes training data with a downloaded file."""
    st.markdown(":small[:gray[Next, encode your corpus into training data:]]")
    st.code(encoding_command(file_name, tokenizer), language=None, wrap_lines=True)


@fragment(run_every=SECONDS_BETWEEN_LOOKS)
def _watch_rows(offered: Sequence[Download], id: str, key: str, folds_others: bool) -> None:
    """Redraw the rows until the checks have ended, then the whole page once."""
    status = checks().status(id)
    if not status.is_live:
        st.rerun()
    _rows(offered, status, key, folds_others)


def _rows(
    offered: Sequence[Download],
    status: Status[Checked, Checked] | None,
    key: str,
    folds_others: bool,
) -> None:
    others = offered[1:] if folds_others else offered
    with st.container(gap="small", key=f"{key}_download_rows"):
        if folds_others:
            _row(offered[0], status, key, label=f"Download {offered[0].label}")
        with st.expander("Other formats", type="compact") if folds_others else nullcontext():
            for download in others:
                _row(download, status, key, label=download.label)
            show_opens_in(offered, status, key)


def _row(
    download: Download, status: Status[Checked, Checked] | None, key: str, *, label: str
) -> None:
    with st.container(gap=None):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.download_button(
                label,
                download.data or b"",
                file_name=download.file_name,
                mime="application/octet-stream",
                help=f"For {download.reader}",
                on_click="ignore",
                key=f"{key}_{download.label}",
            )
            library = find_reader(download.format).library
            popover = f"{key}_{download.format}"
            with st.popover(f"Load with {library}", type="tertiary", key=popover):
                st.code(download.code, language="python", wrap_lines=True)
        st.markdown(f":small[{check_sentence(download, status)}]")
        if download.lacks:
            st.markdown(f":small[:gray[{plain_markdown(download.lacks, 600)}]]")


def check_sentence(download: Download, status: Status[Checked, Checked] | None) -> str:
    """Return in Markdown the result of opening a download, or that it is being opened."""
    if status is None:
        return f":gray[{_TOO_MANY}]"
    checked = status.result or status.progress
    opened = checked.results.get(download.format) if checked is not None else None
    if opened is not None:
        return _result_sentence(opened)
    if status.is_live:
        return f":gray[Opening it with {find_reader(download.format).library} …]"
    why = "the check was cancelled." if status.problem is None else status.problem
    return f":orange[Not checked: {plain_markdown(why, 600)}]"


def _result_sentence(opened: Opened) -> str:
    sentence = plain_markdown(opened.sentence, 600)
    if opened.is_same:
        return f":green[✓] :gray[{sentence}]"
    return f":gray[{sentence}]" if opened.version is None else f":orange[{sentence}]"


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
