"""Describe what was chosen, guessed or skipped while reading files, and group similar notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

NoteKind = Literal[
    "unreadable",
    "undecodable",
    "empty",
    "lines",
    "encoding",
    "replaced",
    "quotes",
    "surrogate",
    "not-a-table",
    "chats",
    "column",
    "rows",
    "mark",
]
_MAX_NAMES: Final = 3


class _Kind(NamedTuple):
    is_warning: bool
    many: str
    """A phrase for several files; their number comes before it, and their names after it."""


# The most serious first.
_KINDS: Final[Mapping[NoteKind, _Kind]] = {
    "unreadable": _Kind(True, "files could not be read and were skipped"),
    "undecodable": _Kind(True, "files are not text in any encoding tried and were skipped"),
    "empty": _Kind(True, "empty files were skipped"),
    "lines": _Kind(True, "files have lines that are not valid JSON, which were skipped"),
    "encoding": _Kind(True, "files are not UTF-8 and were read in a guessed encoding"),
    "replaced": _Kind(True, "files have bytes that do not fit, which were replaced with U+FFFD"),
    "quotes": _Kind(True, "tables have quotes that do not end, which were read as text"),
    "surrogate": _Kind(True, "files have rows with a lone surrogate, which were left out"),
    "not-a-table": _Kind(True, "files are not tables and were read whole"),
    "chats": _Kind(False, "tables hold chats, which were read as roles and contents"),
    "column": _Kind(False, "tables have several columns, of which one was taken"),
    "rows": _Kind(False, "files have rows without text, which were left out"),
    "mark": _Kind(False, "files begin with a byte order mark, which was removed"),
}


class Note(NamedTuple):
    """A note on what was chosen, guessed or skipped in one file."""

    kind: NoteKind
    file: str
    text: str
    """One or more sentences that name the file."""
    choice: str = ""
    """The column that was taken, or the encoding that was guessed; empty for other kinds."""


class NoteGroup(NamedTuple):
    """The notes of one kind, and a sentence on all of them."""

    sentence: str
    notes: tuple[Note, ...]
    is_warning: bool
    """True if text was skipped or guessed; False for a choice and for what holds no text."""


def group_notes(notes: Iterable[Note]) -> tuple[NoteGroup, ...]:
    """Group notes by kind, the most serious first; a single note is its own sentence.

    >>> notes = [Note("empty", f"{name}.txt", f"Skipped. {name}.txt is empty.") for name in "abcde"]
    >>> [group.sentence for group in group_notes(notes)]
    ['5 empty files were skipped: a.txt, b.txt, c.txt and 2 more.']
    """
    by_kind: dict[NoteKind, list[Note]] = {}
    for note in notes:
        by_kind.setdefault(note.kind, []).append(note)
    return tuple(
        NoteGroup(_sentence(kind, by_kind[kind]), tuple(by_kind[kind]), _KINDS[kind].is_warning)
        for kind in _KINDS
        if kind in by_kind
    )


def listed(names: Sequence[str], most: int = _MAX_NAMES) -> str:
    """Join names with commas; count those beyond the first few.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d", "e"])
    ('a, b, c', 'a, b, c and 2 more')
    """
    # A list that hides one name would be as long with it.
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"


def _sentence(kind: NoteKind, notes: Sequence[Note]) -> str:
    if len(notes) == 1:
        return notes[0].text
    choices = dict.fromkeys(note.choice for note in notes if note.choice)
    of_which = f" ({listed(list(choices))})" if choices else ""
    names = listed([note.file for note in notes])
    return f"{len(notes):,} {_KINDS[kind].many}{of_which}: {names}."
