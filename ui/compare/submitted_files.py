"""The files of a form, at the press of its button."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ui.tokenizers.shelf import Upload


def submitted_files(uploads: Sequence[UploadedFile]) -> list[Upload]:
    """Return the files that a form was submitted with; where it has none, ask for one."""
    if not uploads:
        st.error("Choose a file first.")
    return [(upload.name, upload.getvalue()) for upload in uploads]
