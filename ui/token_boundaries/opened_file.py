"""Open a file as the visitor's text, and show what was guessed, skipped or wrong in it."""

from __future__ import annotations

import streamlit as st

from bpe_core.errors import BpeError
from ui.corpus import own_reading
from ui.corpus.own_text_field import OpenedText, find_text, open_text, update_text
from ui.look.labels import plain_markdown
from ui.run.reading import progress_on, show_reading_notes, waiting_on
from ui.shell.file_upload import check_uploaded, upload_file
from ui.work.reading import read_beginning


def file_opener() -> None:
    """Draw the button that opens a file, and read a newly opened one as the visitor's text."""
    with st.popover("Open a file", width="content"):
        upload = upload_file("A text file, a table or an archive", key="boundaries_file")
    if upload is None or upload.file_id == find_text().file_id:
        return
    # Recorded before reading, so that an unreadable file is not read again on every rerun.
    update_text(file_id=upload.file_id, problem="")
    bar = st.empty()
    try:
        check_uploaded()
        corpus, n_characters = read_beginning(
            [upload],
            own_reading.MAX_CHARACTERS,
            on_progress=progress_on(bar, upload.size),
            on_wait=waiting_on(bar),
        )
    except BpeError as error:
        update_text(problem=str(error))
        return
    finally:
        bar.empty()
    opened = OpenedText(upload.name, upload.size, find_text().text)
    text = own_reading.joined(corpus)
    open_text(text, opened=opened, n_characters=n_characters, notes=corpus.file_notes)


def file_messages() -> None:
    """Draw the error and the notes of the file opened last."""
    opened = find_text()
    if opened.problem:
        st.error(plain_markdown(opened.problem, 600))
    show_reading_notes(opened.notes)
