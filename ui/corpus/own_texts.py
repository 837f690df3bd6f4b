"""The texts that visitors write: their fields, their place in the address, and their tokens.

Each text has a name, under which it is in the address: a short one itself, a longer one by the id
under which the server keeps it. "text" is in the parameters `text` and `text_id`. Several pages
share the text named `OWN`. Files and large pastes are opened, and the first million tokens are
packed for the browser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Final

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.corpus import Corpus, Note
from bpe_core.errors import BpeError, NotKeptError
from bpe_core.tokenizer import Boundaries, Encoder, boundaries
from bpe_core.views import PackedTokens, find_longest_word, pack_boundaries
from ui.components import draw_live_text, paste_catcher, paste_limits, read_paste
from ui.host import cached
from ui.look import order_note, plain_markdown, size_text
from ui.shell import (
    check_linked,
    check_uploaded,
    max_file_bytes,
    show_unread,
    upload_file,
    workspace,
)
from ui.storage import DAYS_KEPT_UNOPENED, keep_text, load_text

MAX_TEXT_LENGTH_IN_ADDRESS = 1_000
_KEPT = "Too long for the address, so the text is kept on this server."
_HOW_LONG_KEPT = (
    "The id in the address brings it back. It is deleted "
    f"{DAYS_KEPT_UNOPENED} days after it was last opened, or after one day if the server needs the "
    "room."
)
NOT_KEPT = "The text is too long for the address, so a refresh brings back the sample text."
_MAX_ID_LENGTH = 64


@dataclass(frozen=True, slots=True)
class KeptText:
    """A long text and the id that it is kept under."""

    id: str
    text: str
    is_own: bool
    """False if it came by a link: then edits are kept under a new id."""


@dataclass(frozen=True, slots=True)
class KeptTexts:
    """The texts last kept for the address or loaded from it, by their names in the address."""

    by_name: Mapping[str, KeptText] = field(default_factory=dict[str, KeptText], repr=False)


def read_address_text(name: str) -> str | None:
    """Return the text that the address holds or names; warn and return None if it is missing."""
    text_id = workspace.query_text(_id_name(name), _MAX_ID_LENGTH)
    if text_id is None:
        check_linked(
            name,
            lambda text: len(text) <= MAX_TEXT_LENGTH_IN_ADDRESS,
            f"a text of at most {MAX_TEXT_LENGTH_IN_ADDRESS:,} characters",
        )
        show_unread(name, "")
        return workspace.query_text(name, MAX_TEXT_LENGTH_IN_ADDRESS)
    try:
        text = load_text(text_id)
    except BpeError as error:
        st.warning(plain_markdown(str(error), 600))
        return None
    _remember(name, KeptText(text_id, text, is_own=False))
    return text


def text_to_address(name: str, text: str, *, longest: int) -> None:
    """Put a text in the address, and say so if it is kept on the server: its first characters."""
    if len(text) <= MAX_TEXT_LENGTH_IN_ADDRESS:
        workspace.set_query(**{name: text, _id_name(name): None})
        return
    kept = workspace.get(KeptTexts).by_name.get(name)
    if kept is None or kept.text != text:
        try:
            # A text that came by a link may be open in other tabs, so it is not replaced.
            before = kept.id if kept and kept.is_own else None
            text_id = keep_text(text[:longest], instead_of=before)
        except NotKeptError as error:
            leave_address(name)
            st.warning(f"{error} {NOT_KEPT}")
            return
        kept = KeptText(text_id, text, is_own=True)
        _remember(name, kept)
    workspace.set_query(**{name: None, _id_name(name): kept.id})
    st.markdown(f":gray[:small[{_KEPT}]]", help=_HOW_LONG_KEPT)


def start_area(name: str, first: str) -> None:
    """Begin the text area with the key `name` as in the address, else with `first`."""
    if not workspace.has_widget(name):
        text = read_address_text(name)
        workspace.set_widget(name, first if text is None else text)


def area_to_address(name: str, text: str, *, first: str, longest: int) -> None:
    """Put what a text area holds in the address, unless it is what it began with."""
    if text == first:
        leave_address(name)
    else:
        text_to_address(name, text, longest=longest)


def leave_address(name: str) -> None:
    """Remove the text from the address."""
    workspace.set_query(**{name: None, _id_name(name): None})


def _id_name(name: str) -> str:
    return f"{name}_id"


def _remember(name: str, kept: KeptText) -> None:
    workspace.update(KeptTexts, by_name={**workspace.get(KeptTexts).by_name, name: kept})


MAX_TOKENS = 1_000_000
"""The most tokens shown, as many as the view was tested with; the rest are only counted."""
MAX_CHARACTERS = 8_000_000
"""The most characters encoded, twice as many as a million tokens of prose have."""
_LARGE = 500_000
_one_at_a_time = Lock()
"""For texts of more characters: a tokenizer that makes an object for each token takes gigabytes."""


@dataclass(frozen=True, slots=True)
class OwnReading:
    """A text's first million tokens, and how many there are in all."""

    stamp: str
    """A hash of the text and its reading; browser messages with another stamp are outdated."""
    text: str
    """The text that these tokens cover."""
    found: Boundaries
    packed: PackedTokens
    n_tokens: int
    """The number of tokens of the whole text."""
    n_shown: int
    first_chosen: int | None
    """The index of the segment chosen at first: the longest word near the start."""

    @property
    def is_all(self) -> bool:
        """Whether all tokens of the text are included."""
        return self.n_shown == self.n_tokens


@cached(spinner="Encoding the text")
def read_own_text(text: str, encoder: Encoder, allowed_special: tuple[str, ...] = ()) -> OwnReading:
    """Return the tokens of a text.

    Raises InvalidTextError for a lone surrogate, and TokenizationError if another library fails.
    """
    # A few more, because the last token that is shown may end within a character.
    with _one_at_a_time if len(text) > _LARGE else nullcontext():
        every = boundaries(text, encoder, allowed_special, max_starts=MAX_TOKENS + 8)
    found, part = every, text
    if len(every.ids) > MAX_TOKENS:
        found, part = every.first(MAX_TOKENS, text)
    stamp = hashlib.sha256(repr((encoder.fingerprint, allowed_special)).encode() + text.encode())
    return OwnReading(
        stamp=stamp.hexdigest()[:16],
        text=part,
        found=found,
        packed=pack_boundaries(found, encoder),
        n_tokens=int(np.count_nonzero(every.ids >= 0)),
        n_shown=int(np.count_nonzero(found.ids >= 0)),
        first_chosen=find_longest_word(found, encoder),
    )


def joined(corpus: Corpus) -> str:
    """Join a corpus's documents, up to MAX_CHARACTERS."""
    parts: list[str] = []
    room = MAX_CHARACTERS
    for document in corpus.documents:
        if room < 0:
            break
        parts.append(document[:room])
        room -= len(document) + 1
    return "\n".join(parts)[:MAX_CHARACTERS]


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
        text = read_address_text(name)
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
    text, longest = own_text(first), MAX_CHARACTERS
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
    area_to_address(name, text, first=first, longest=longest)


def leave_text_address() -> None:
    """Remove the text from the address."""
    leave_address(OWN)


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
