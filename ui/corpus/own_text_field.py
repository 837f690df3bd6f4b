"""Draw the fields for a visitor's own texts, keep the texts, and open files and large pastes.

Each text has a name, under which it is in the address: a short one itself, a longer one by the id
under which the server keeps it. Several pages share the text named `OWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.corpus import Note
from bpe_core.errors import BpeError
from ui.components import draw_live_text, paste_catcher, paste_limits, read_paste
from ui.corpus import address_text, own_reading
from ui.look import order_note, size_text
from ui.shell import check_uploaded, max_file_bytes, upload_file, workspace

OWN: Final = "text"
PASTED: Final = "Pasted text"


@dataclass(frozen=True, slots=True)
class OpenedText:
    """A file or a large paste that was opened as a text."""

    name: str
    n_bytes: int
    """The size of all of it, even if only its beginning is read."""
    before: str | None
    """The text that it replaced; None for the page's first text."""


@dataclass(frozen=True, slots=True)
class OwnText:
    """A visitor's own text."""

    text: str | None = None
    """None until one is typed, opened, or read from the address."""
    opened: OpenedText | None = None
    """What `text` was opened from; None once the text is edited."""
    notes: tuple[Note, ...] = ()
    """Notes on what was skipped or guessed in `opened`; empty once the text changes."""
    cut: str = ""
    """A sentence on the part of `opened` that is read if it was cut; empty otherwise."""
    problem: str = ""
    """Why the file last opened could not be read; empty once the text changes."""
    file_id: str = ""
    """The upload last opened, even if it could not be read or the text was edited since."""


@dataclass(frozen=True, slots=True)
class OwnTexts:
    """The visitor's own texts, by name."""

    by_name: Mapping[str, OwnText] = field(default_factory=dict[str, OwnText], repr=False)


def find_text(name: str = OWN) -> OwnText:
    """Return what is known of a text."""
    return workspace.get(OwnTexts).by_name.get(name, OwnText())


def update_text(name: str = OWN, **changes: object) -> None:
    """Change what is known of a text."""
    changed = replace(find_text(name), **changes)  # pyright: ignore[reportArgumentType]
    workspace.update(OwnTexts, by_name={**workspace.get(OwnTexts).by_name, name: changed})


def own_text(first: str, name: str = OWN) -> str:
    """Return the text last typed or opened, else the address's text, else `first`."""
    text = find_text(name).text
    if text is None:
        text = address_text.read_address_text(name)
        if text is not None:
            update_text(name, text=text)
    return first if text is None else text


def set_own_text(text: str, name: str = OWN) -> None:
    """Make a text the visitor's own, in place of a text opened before."""
    update_text(name, text=text, opened=None, notes=(), cut="", problem="")


def open_text(
    text: str,
    *,
    opened: OpenedText,
    n_characters: int,
    notes: Sequence[Note] = (),
    name: str = OWN,
) -> None:
    """Make a text the visitor's own: what is read of `opened`, which has `n_characters`."""
    already = find_text(name).opened
    if already is not None:
        opened = replace(opened, before=already.before)
    cut = ""
    if len(text) < n_characters:
        cut = f"The text has {n_characters:,} characters. Only the first {len(text):,} are read."
    update_text(name, text=text, opened=opened, notes=tuple(notes), cut=cut, problem="")


def file_opener(
    label: str,
    read: Callable[[UploadedFile], tuple[str, int, Sequence[Note]]],
    *,
    key: str,
    name: str = OWN,
) -> None:
    """Draw the button that opens a file as a text, and open a file that is new.

    `read` returns what is read of it, the number of characters that it has, and notes.
    """
    with st.popover("Open a file", width="content"):
        upload = upload_file(label, key=key)
    if upload is None or upload.file_id == find_text(name).file_id:
        return
    # Recorded before reading, so that an unreadable file is not read again on every rerun.
    update_text(name, file_id=upload.file_id, problem="")
    try:
        check_uploaded()
        text, n_characters, notes = read(upload)
    except BpeError as error:
        update_text(name, problem=str(error))
        return
    opened = OpenedText(upload.name, upload.size, find_text(name).text)
    open_text(text, opened=opened, n_characters=n_characters, notes=notes, name=name)


def open_pasted(key: str, name: str, longest: int) -> None:
    """Open the large paste that the field with this key has sent, up to `longest` characters."""
    paste = read_paste(workspace.component_value(key, "pasted"))
    if paste is not None:
        opened = OpenedText(PASTED, paste.n_bytes, paste.before)
        text = paste.text[:longest]
        open_text(text, opened=opened, n_characters=paste.n_characters, name=name)


def close_text(first: str, name: str = OWN) -> None:
    """Return to the text before the opened one, or to `first` if there was none."""
    opened = find_text(name).opened
    before = None if opened is None else opened.before
    set_own_text(first if before is None else before, name)


def text_field(first: str, *, key: str) -> str:
    """Draw the field with the text that pages share; return the text, and put it in the address."""
    text, longest = own_text(first), own_reading.MAX_CHARACTERS
    live_field(text, OWN, label="Your text", first=first, key=key, longest=longest)
    if cut := find_text().cut:
        st.warning(cut)
    if note := order_note(text):
        st.markdown(f":gray[:small[{note}]]")
    return text


def live_field(
    text: str,
    name: str,
    *,
    label: str,
    first: str,
    key: str,
    longest: int,
    lines: int = 4,
) -> None:
    """Draw a field that holds a text, of which up to `longest` characters are read.

    The address has the text, unless it is the `first` one.
    """
    opened = find_text(name).opened
    draw_live_text(
        text,
        label=label,
        key=key,
        on_typed=partial(_keep_typed, key, name),
        on_pasted=partial(open_pasted, key, name, longest),
        on_closed=partial(close_text, first, name),
        limits=paste_limits(max_bytes=max_file_bytes(), max_sent=longest),
        opened=None if opened is None else (opened.name, opened.n_bytes),
        lines=lines,
    )
    address_text.area_to_address(name, text, first=first, longest=longest)


def leave_text_address() -> None:
    """Remove the text from the address."""
    address_text.leave_address(OWN)


def _keep_typed(key: str, name: str) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        set_own_text(typed, name)


MAX_BYTES_PASTED = 50_000_000
"""The most that one message from the browser is to carry; a file is uploaded in parts."""
_EXCERPT = 2_000
_WIDGET_PREFIX = "paste_"


def large_text_area(
    label: str, first: str = "", *, key: str, height: int, placeholder: str | None = None
) -> str:
    """Draw a text area, or the large text that was pasted into it, and return its text."""
    pasted = find_text(key)
    if pasted.opened is not None:
        return _show_pasted(label, pasted.text or "", pasted.opened, key=key, height=height)
    text = st.text_area(
        label, first, key=key, height=height, placeholder=placeholder, persist_state="session"
    )
    catcher = f"{_WIDGET_PREFIX}{key}"
    paste_catcher(
        label,
        limits=paste_limits(max_bytes=MAX_BYTES_PASTED, max_sent=MAX_BYTES_PASTED),
        key=catcher,
        on_pasted=partial(open_pasted, catcher, key, MAX_BYTES_PASTED),
    )
    return text or ""


def _show_pasted(label: str, text: str, opened: OpenedText, *, key: str, height: int) -> str:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Pasted text** :gray[{size_text(opened.n_bytes)}]", width="content")
        st.button("Close", on_click=_close, args=(key,), key=f"{key}_close")
    st.text_area(label, text[:_EXCERPT], key=f"{key}_excerpt", height=height, disabled=True)
    if len(text) > _EXCERPT:
        st.markdown(
            f":gray[:small[These are the first {_EXCERPT:,} of {len(text):,} characters. "
            "All of them are used.]]"
        )
    return text


def _close(key: str) -> None:
    close_text("", key)
    workspace.set_widget(key, find_text(key).text or "")
