"""Measure the uploaded files that are in the server's memory."""

from __future__ import annotations

from typing import Final

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileManager

from ui.settings import settings

MOST_BYTES_OF_ALL: Final = settings().uploads_megabytes * 1_000_000
"""The limit for the files of all visitors in the server's memory."""


def bytes_held(manager: UploadedFileManager, session_id: str) -> int:
    """Return the total size of a session's files in the server's memory."""
    if not isinstance(manager, MemoryUploadedFileManager):
        return 0
    files = manager.file_storage.get(session_id, {})
    return sum(len(file.data) for file in list(files.values()))


def bytes_held_by_all(manager: UploadedFileManager) -> list[int]:
    """Return the total size of each session's files in the server's memory, if it has any."""
    if not isinstance(manager, MemoryUploadedFileManager):
        return []
    held = (bytes_held(manager, session_id) for session_id in list(manager.file_storage))
    return [n_bytes for n_bytes in held if n_bytes]
