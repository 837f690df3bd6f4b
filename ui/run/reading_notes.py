"""Show how files were read: warn of what was skipped or guessed, and note what was chosen."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.corpus.notes import Note, NoteGroup, group_notes
from ui.look.labels import plain_markdown

_MAX_LISTED = 100
_LONGEST = 400


def show_reading_notes(notes: Sequence[Note]) -> None:
    """Draw a sentence for each kind of note, and the files of a kind in an expander."""
    groups = group_notes(notes)
    if warnings := [group for group in groups if group.is_warning]:
        st.warning("\n\n".join(plain_markdown(group.sentence, _LONGEST) for group in warnings))
    for group in groups:
        if not group.is_warning:
            st.markdown(f":gray[:small[{plain_markdown(group.sentence, _LONGEST)}]]")
    if many := [group for group in groups if len(group.notes) > 1]:
        with st.expander("Each file"):
            for group in many:
                _list(group)


def _list(group: NoteGroup) -> None:
    lines = [f"- {plain_markdown(note.text, _LONGEST)}" for note in group.notes[:_MAX_LISTED]]
    if (more := len(group.notes) - _MAX_LISTED) > 0:
        lines.append(f"- and {more:,} more")
    st.markdown("\n".join(lines))
