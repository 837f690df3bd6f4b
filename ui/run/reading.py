"""Show how far the reading of files is, then what was skipped, guessed or chosen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus.notes import Note, NoteGroup, group_notes
from ui.look.labels import plain_markdown
from ui.work.training_report import duration

_MAX_LISTED = 100
_MAX_LENGTH = 400
_SECONDS_BEFORE_BAR = 0.5
_SECONDS_BETWEEN_DRAWINGS = 0.1


def show_reading_notes(notes: Sequence[Note]) -> None:
    """Draw a sentence for each kind of note, and the files of a kind in an expander."""
    groups = group_notes(notes)
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


def waiting_on(bar: DeltaGenerator) -> Callable[[], object]:
    """Return a function that shows that others' files are read first; a script can stop there."""
    return lambda: bar.progress(0.0, "Waiting for other visitors’ files to be read.")


def progress_on(bar: DeltaGenerator, n_bytes: int) -> Callable[[float], None]:
    """Return a function that draws the progress of a reading that takes longer than a moment.

    Drawing also lets the visitor stop it: if they have removed a file or used another widget,
    Streamlit stops the script there and runs the page again.
    """
    started = drawn_at = time.monotonic()

    def draw(part: float) -> None:
        nonlocal drawn_at
        now = time.monotonic()
        seconds = now - started
        if not part or seconds < _SECONDS_BEFORE_BAR or now - drawn_at < _SECONDS_BETWEEN_DRAWINGS:
            return
        drawn_at = now
        megabytes = n_bytes / 1e6
        bar.progress(
            min(1.0, part),
            f"Reading {part * megabytes:,.0f} of {megabytes:,.0f} MB, "
            f"{part * megabytes / seconds:,.0f} MB a second, "
            f"{duration(seconds * (1 - part) / part)} left. To stop, remove the file.",
        )

    return draw
