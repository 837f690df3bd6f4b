"""Open a file or a large paste as the visitor's own text, and close it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bpe_core.corpus.notes import Note
from ui.components.large_paste import read_paste
from ui.shell import workspace

PASTED = "Pasted text"


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
    """The visitor's own text; a subclass is the state of another such text."""

    NAME: ClassVar[str] = "text"
    """The name of the text in the address."""
    CUT: ClassVar[str] = "The pasted text has {of:,} characters. Only the first {read:,} are read."
    """What to say if only a part of a pasted text is read."""

    text: str | None = None
    """None until one is typed, opened, or read from the address."""
    opened: OpenedText | None = None
    """What `text` was opened from; None once the text is edited."""
    notes: tuple[Note, ...] = ()
    """Notes on what was skipped or guessed in `opened`; empty once the text changes."""
    cut: str = ""
    """A sentence on the part of `opened` that is shown if it was cut; empty otherwise."""
    problem: str = ""
    """Why the file last opened could not be read; empty once the text changes."""
    file_id: str = ""
    """The upload last opened, even if it could not be read or the text was edited since."""


def open_text(
    text: str,
    *,
    name: str,
    n_bytes: int,
    before: str | None,
    notes: Sequence[Note] = (),
    cut: str = "",
    kind: type[OwnText] = OwnText,
) -> None:
    """Make a text the visitor's own; `before` is the text that returns when it is closed.

    `cut` is a sentence on the part that is read, if it is not all of the text.
    """
    already = workspace.get(kind).opened
    if already is not None:
        before = already.before
    workspace.update(
        kind,
        text=text,
        opened=OpenedText(name, n_bytes, before),
        notes=tuple(notes),
        cut=cut,
        problem="",
    )


def open_pasted(key: str, kind: type[OwnText], longest: int) -> None:
    """Open the large paste that the field with this key has sent, up to `longest` characters."""
    paste = read_paste(workspace.component_value(key, "pasted"))
    if paste is None:
        return
    text = paste.text[:longest]
    cut = ""
    if len(text) < paste.n_characters:
        cut = kind.CUT.format(of=paste.n_characters, read=len(text))
    open_text(text, name=PASTED, n_bytes=paste.n_bytes, before=paste.before, cut=cut, kind=kind)


def close_text(first: str, kind: type[OwnText] = OwnText) -> None:
    """Return to the text before the opened one, or to `first` if there was none."""
    opened = workspace.get(kind).opened
    before = None if opened is None else opened.before
    set_own_text(first if before is None else before, kind)


def set_own_text(text: str, kind: type[OwnText] = OwnText) -> None:
    """Make a text the visitor's own, in place of a text opened before."""
    workspace.update(kind, text=text, opened=None, notes=(), cut="", problem="")
