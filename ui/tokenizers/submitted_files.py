"""Check the files that a visitor hands over."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.errors import BpeError
from ui.look.labels import plain_markdown
from ui.shell.file_upload import check_uploaded
from ui.tokenizers.shelf import Upload


def submitted_files(uploads: Sequence[UploadedFile]) -> list[Upload]:
    """Return uploaded files; show an error and return none if they are too large together."""
    try:
        check_uploaded()
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return []
    return [(upload.name, upload.getvalue()) for upload in uploads]
