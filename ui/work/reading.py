"""Read a visitor's files, and draw how far that is and what there is to note.

Small ones are read here, large ones in a process, for a few visitors at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus import (
    Corpus,
    DecodingErrors,
    Note,
    NoteGroup,
    ReadOptions,
    TableColumns,
    Upload,
    Uploads,
)
from bpe_core.files import Store
from ui.look import plain_markdown, size_text
from ui.work.jobs import duration

MAX_ARCHIVE_FILES: Final = 10_000
_MAX_CONCURRENT: Final = 2
"""Each process may take gigabytes."""
_SECONDS_BETWEEN_LOOKS: Final = 0.2
_places: Final = BoundedSemaphore(_MAX_CONCURRENT)


def read_files(
    files: Sequence[Upload],
    columns: Mapping[str, str],
    *,
    encoding: Mapping[str, str],
    errors: DecodingErrors = "strict",
    held_out_share: float,
    held_out_by: str | None = None,
    kept_column: str | None = None,
    on_progress: Callable[[float], None],
    on_wait: Callable[[], object],
) -> Corpus:
    """Read files into a corpus; of a large one, only figures are in memory.

    `on_wait` is called regularly while others' files are read. Raises what `read_corpus`,
    `on_progress` and `on_wait` raise.
    """
    choices = ReadOptions(columns, encoding, errors, MAX_ARCHIVE_FILES, kept_column)
    return Uploads(files, choices, partial(_place, on_wait)).read(
        held_out_share=held_out_share, held_out_by=held_out_by, on_progress=on_progress
    )


def read_beginning(
    files: Sequence[Upload],
    max_characters: int,
    *,
    on_progress: Callable[[float], None],
    on_wait: Callable[[], object],
) -> tuple[Corpus, int]:
    """Read files, of large ones only the beginning; return the number of characters of all.

    The documents count as joined by a character. Raises what `read_files` raises.
    """
    choices = ReadOptions(max_archive_files=MAX_ARCHIVE_FILES)
    uploads = Uploads(files, choices, partial(_place, on_wait))
    return uploads.read_beginning(max_characters, on_progress=on_progress)


def describe_tables(
    files: Sequence[Upload],
    encoding: Mapping[str, str],
    most: int,
    *,
    errors: DecodingErrors = "strict",
    on_wait: Callable[[], object],
) -> list[tuple[str, TableColumns]]:
    """Describe tables as `Uploads.describe_tables` does. Raises what `read_files` raises."""
    choices = ReadOptions(None, encoding, errors, MAX_ARCHIVE_FILES)
    return Uploads(files, choices, partial(_place, on_wait)).describe_tables(most)


@contextmanager
def _place(on_wait: Callable[[], object]) -> Generator[Path]:
    """Wait for one of the few places for processes; yield the folder that one may write to."""
    while not _places.acquire(timeout=_SECONDS_BETWEEN_LOOKS):
        on_wait()
    try:
        yield Store().make()
    finally:
        _places.release()


_MAX_LISTED = 100
_MAX_LENGTH = 400
_SECONDS_BEFORE_BAR = 0.5
_SECONDS_BETWEEN_DRAWINGS = 0.1
_MAX_NAME = 40


def show_reading_notes(notes: Sequence[Note]) -> None:
    """Draw a sentence for each kind of note, and the files of a kind in an expander."""
    groups = NoteGroup.of(notes)
    if warnings := [group for group in groups if group.is_warning]:
        st.warning("\n\n".join(plain_markdown(group.sentence, _MAX_LENGTH) for group in warnings))
    for group in groups:
        if not group.is_warning:
            st.markdown(f":gray[:small[{plain_markdown(group.sentence, _MAX_LENGTH)}]]")
    if many := [group for group in groups if len(group.notes) > 1]:
        with st.expander("Each file"):
            for group in many:
                _list(group)


def _list(group: NoteGroup) -> None:
    lines = [f"- {plain_markdown(note.text, _MAX_LENGTH)}" for note in group.notes[:_MAX_LISTED]]
    if (more := len(group.notes) - _MAX_LISTED) > 0:
        lines.append(f"- and {more:,} more")
    st.markdown("\n".join(lines))


class ReadingBar:
    """Shows in one place that files are read, and how far; nothing if that takes a moment.

    Drawing also lets the visitor stop it: if they have removed a file or used another widget,
    Streamlit stops the script there and runs the page again.
    """

    def __init__(self, place: DeltaGenerator, files: Sequence[Upload]) -> None:
        self._place = place
        self._uploads = Uploads(files)
        self._megabytes = self._uploads.n_bytes / 1e6
        self._started = self._drawn_at = time.monotonic()
        self._is_drawn = False

    def announce(self) -> None:
        """Show immediately what is read, if it is so much that a process reads it."""
        if self._uploads.are_large:
            self._draw(0.0, f"Reading {self._what()}, {size_text(self._megabytes * 1e6)}.")

    def wait(self) -> None:
        """Show that others' files are read first."""
        self._draw(0.0, f"Waiting for other visitors’ files to be read before {self._what()}.")

    def progress(self, part: float) -> None:
        """Show how much is read, and how long the rest will take."""
        now = time.monotonic()
        seconds = now - self._started
        if (
            not part
            or seconds < _SECONDS_BEFORE_BAR
            or now - self._drawn_at < _SECONDS_BETWEEN_DRAWINGS
        ):
            return
        self._drawn_at = now
        self._draw(
            min(1.0, part),
            f"Reading {self._what()}: {part * self._megabytes:,.0f} of {self._megabytes:,.0f} MB, "
            f"{part * self._megabytes / seconds:,.0f} MB a second, "
            f"{duration(seconds * (1 - part) / part)} left. To stop, remove the file.",
        )

    def close(self) -> None:
        """Remove what was drawn."""
        if self._is_drawn:
            self._place.empty()

    def _draw(self, part: float, words: str) -> None:
        self._is_drawn = True
        self._place.progress(part, words)

    def _what(self) -> str:
        names = [file.name for file in self._uploads.files]
        return plain_markdown(names[0] if len(names) == 1 else f"{len(names)} files", _MAX_NAME)
