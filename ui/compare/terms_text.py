"""Draw the field for a visitor's terms, opened from a file or a paste, and kept in the address."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core.corpus.text_decoding import decode_text
from bpe_core.errors import BpeError, CorpusError
from ui.components.large_paste import paste_limits, read_paste
from ui.components.live_text import Opened, live_text
from ui.look.labels import plain_markdown
from ui.own_text.address_text import leave_address, text_of_address, text_to_address
from ui.own_text.opened_text import PASTED, OpenedText
from ui.shell import workspace
from ui.shell.file_upload import check_uploaded, most_bytes_a_file, upload_file

FIRST_TERMS = "\n".join(
    (
        *("tokenization", "Kubernetes", "pneumonia", "New York", "don’t", "2026-11-22"),
        *("Straße", "naïve", "привет", "東京"),
    )
)
MOST_CHARACTERS = 1_000_000
"""More than the longest list of terms has."""
_MOST_BYTES = 8_000_000
"""A file of a million characters has 4 MB at most. To guess the encoding of 100 MB took 17 s."""
_NAME = "terms"
_KEY = "compare_terms_text"


@dataclass(frozen=True, slots=True)
class OwnTerms:
    """The visitor's list of terms."""

    text: str | None = None
    """None until one is typed, opened, or read from the address."""
    opened: OpenedText | None = None
    """What `text` was opened from; None once it is edited."""
    note: str = ""
    """What of a file or a paste is not read, and why; empty if all is."""
    file_id: str = ""
    """The upload last opened, even if it could not be read."""


def own_terms() -> str:
    """Return the list last typed or opened, else the address's, else a sample."""
    text = workspace.get(OwnTerms).text
    if text is None:
        text = text_of_address(_NAME)
        if text is not None:
            workspace.update(OwnTerms, text=text)
    return FIRST_TERMS if text is None else text


def terms_field(text: str) -> None:
    """Draw the field with the list, and put the list in the address."""
    terms = workspace.get(OwnTerms)
    live_text(
        text,
        label="Your terms, one per line",
        key=_KEY,
        on_typed=_keep_typed,
        on_pasted=_open_pasted,
        on_closed=_close,
        limits=paste_limits(most_bytes=most_bytes_a_file(), most_sent=MOST_CHARACTERS),
        opened=None if terms.opened is None else Opened(terms.opened.name, terms.opened.n_bytes),
        lines=6,
    )
    if terms.note:
        st.warning(plain_markdown(terms.note, 600))
    if text == FIRST_TERMS:
        leave_address(_NAME)
    else:
        text_to_address(_NAME, text, longest=MOST_CHARACTERS)


def terms_opener() -> None:
    """Draw the button that opens a file, and read a newly opened one."""
    with st.popover("Open a file", width="content"):
        upload = upload_file("A text file with one term per line", key="terms_file")
    if upload is None or upload.file_id == workspace.get(OwnTerms).file_id:
        return
    # Recorded before reading, so that an unreadable file is not read again on every rerun.
    workspace.update(OwnTerms, file_id=upload.file_id, note="")
    try:
        check_uploaded()
        if upload.size > _MOST_BYTES:
            raise CorpusError(
                f"{upload.name} has {upload.size:,} bytes; a list of terms may have "
                f"{_MOST_BYTES:,}. Use a part of it."
            )
        text = decode_text(upload.getvalue(), upload.name).text
    except BpeError as error:
        workspace.update(OwnTerms, note=str(error))
        return
    _open(text, workspace.get(OwnTerms).text, len(text), upload.name, upload.size)


def _open(text: str, before: str | None, n_characters: int, name: str, n_bytes: int) -> None:
    """Make a text the visitor's list; closing it brings back the list before."""
    already = workspace.get(OwnTerms).opened
    if already is not None:
        before = already.before
    read = text[:MOST_CHARACTERS]
    note = ""
    if len(read) < n_characters:
        note = f"Only the first {len(read):,} of {n_characters:,} characters are read."
    opened = OpenedText(name, n_bytes, before)
    workspace.update(OwnTerms, text=read, opened=opened, note=note)


def _open_pasted() -> None:
    paste = read_paste(workspace.component_value(_KEY, "pasted"))
    if paste is not None:
        _open(paste.text, paste.before, paste.n_characters, PASTED, paste.n_bytes)


def _keep_typed() -> None:
    typed = workspace.component_value(_KEY, "typed")
    if isinstance(typed, str):
        _set(typed)


def _close() -> None:
    opened = workspace.get(OwnTerms).opened
    before = None if opened is None else opened.before
    _set(FIRST_TERMS if before is None else before)


def _set(text: str) -> None:
    workspace.update(OwnTerms, text=text, opened=None, note="")
