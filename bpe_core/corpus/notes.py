"""Describe what was chosen, guessed or skipped while reading files, and group similar notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Self

NoteKind = Literal[
    "unreadable",
    "undecodable",
    "empty",
    "lines",
    "encoding",
    "replaced",
    "quotes",
    "escapes",
    "header",
    "long-rows",
    "surrogate",
    "not-a-table",
    "chats",
    "list",
    "column",
    "rows",
    "mark",
]
_MAX_NAMES: Final = 3


# The phrase for several files: their number comes before it, and their names after it. The most
# serious first.
_WARNINGS: Final[Mapping[NoteKind, str]] = {
    "unreadable": "files could not be read and were skipped",
    "undecodable": "files are not text in any encoding tried and were skipped",
    "lines": "files have lines that are not valid JSON, which were skipped",
    "encoding": "files are not UTF-8 and were read in a guessed encoding",
    "replaced": "files have bytes that do not fit, which were replaced with U+FFFD",
    "quotes": "tables have quotes that do not end, which were read as text",
    "long-rows": "tables have rows with more values than names, which were joined to the text",
    "header": "tables have a first line that may be a row or the names of columns",
    "surrogate": "files have rows with a lone surrogate, which were left out",
    "not-a-table": "files are not tables and were read whole",
}
_REMARKS: Final[Mapping[NoteKind, str]] = {
    "chats": "tables hold chats, which were read as roles and contents",
    "list": "JSON files have several lists of rows, of which one was taken",
    "column": "tables have several columns, of which one was taken",
    "escapes": "tables have quotes after backslashes, which were read as quotes within quotes",
    "rows": "files have rows without text, which were left out",
    "empty": "empty files were skipped",
    "mark": "files begin with a byte order mark, which was removed",
}
_PHRASES: Final = {**_WARNINGS, **_REMARKS}


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

    @classmethod
    def of(cls, notes: Iterable[Note]) -> tuple[Self, ...]:
        """Group notes by kind, the most serious first; a single note is its own sentence.

        >>> notes = [Note("empty", f"{name}.txt", f"{name}.txt is empty.") for name in "abcde"]
        >>> [group.sentence for group in NoteGroup.of(notes)]
        ['5 empty files were skipped: a.txt, b.txt, c.txt and 2 more.']
        """
        by_kind: dict[NoteKind, list[Note]] = {}
        for note in notes:
            by_kind.setdefault(note.kind, []).append(note)
        return tuple(
            cls(_sentence(kind, by_kind[kind]), tuple(by_kind[kind]), kind in _WARNINGS)
            for kind in _PHRASES
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
    return f"{len(notes):,} {_PHRASES[kind]}{of_which}: {names}."
