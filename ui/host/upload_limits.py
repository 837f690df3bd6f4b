"""Measure the uploaded files that are in the server's memory, and limit them."""

from __future__ import annotations

from typing import Final

from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileManager

from ui.host.settings import settings

MAX_BYTES_OF_ALL: Final = settings().uploads_megabytes * 1_000_000
"""The limit for the files of all visitors in the server's memory."""
MAX_BYTES: Final = MAX_BYTES_OF_ALL // 4
"""The part of it that one tab can use; the same holds for its files on disk."""


def max_file_bytes() -> int:
    """Return the limit for a single file; Streamlit counts 1,048,576 bytes as a megabyte."""
    return int(config.get_option("server.maxUploadSize")) * 1024 * 1024


def bytes_held(manager: UploadedFileManager) -> dict[str, int]:
    """Return the total size of each session's files in the server's memory, by session."""
    if not isinstance(manager, MemoryUploadedFileManager):
        return {}
    return {
        session: sum(len(file.data) for file in list(files.values()))
        for session, files in list(manager.file_storage.items())
    }
