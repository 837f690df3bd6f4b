"""Draw uploaders, measure and limit a visitor's files, and free those no longer used."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

import streamlit as st
from streamlit import config
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileManager

from bpe_core.errors import BpeError
from ui.host import errors_shown, settings
from ui.shell import workspace

MAX_BYTES_OF_ALL: Final = settings().uploads_megabytes * 1_000_000
"""The limit for the files of all visitors in the server's memory."""
MAX_BYTES: Final = MAX_BYTES_OF_ALL // 4
"""The part of it that one tab can use; the same holds for its files on disk."""
LIMIT: Final = f"Up to {MAX_BYTES // 1_000_000} MB in total."


@dataclass(frozen=True, slots=True)
class Uploads:
    """What this session has uploaded."""

    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids of the files last seen in each uploader, by its key."""
    bytes_kept: int = 0
    """The total size of the files that this session has kept on the server's disk."""


class TooMuchUploadedError(BpeError):
    """A visitor's files exceed the limit in total."""


def upload_files(
    label: str,
    *,
    key: str,
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
    on_change: Callable[[], None] | None = None,
) -> list[UploadedFile]:
    """Draw an uploader for several files, and return its files; see `check_uploaded`."""
    uploads = st.file_uploader(
        label,
        accept_multiple_files=True,
        key=key,
        label_visibility=label_visibility,
        on_change=on_change,
    )
    _free_removed(key, uploads)
    return uploads


def upload_file(label: str, *, key: str) -> UploadedFile | None:
    """Draw an uploader for one file, and return the file; see `check_uploaded`."""
    upload = st.file_uploader(label, key=key)
    _free_removed(key, [] if upload is None else [upload])
    return upload


def check_uploaded() -> None:
    """Raise TooMuchUploadedError if this visitor's files in memory exceed the limit.

    Once it is exceeded, further files are refused before they arrive: see
    `ui.serving.limits`.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    held = bytes_held(context.uploaded_file_mgr)
    if held.get(context.session_id, 0) > MAX_BYTES:
        raise TooMuchUploadedError(
            f"Your files exceed {MAX_BYTES / 1e6:,.0f} MB in total, so no more are accepted. "
            "Remove some, or reload the page to start again."
        )


@contextmanager
def counted_as_kept(n_bytes: int) -> Generator[None]:
    """Count `n_bytes` as kept on disk for this visitor if the block succeeds.

    Raises TooMuchUploadedError before the block if the visitor's total would exceed the limit.
    """
    kept = workspace.get(Uploads).bytes_kept + n_bytes
    if kept > MAX_BYTES:
        raise TooMuchUploadedError(
            f"The files kept for you would exceed {MAX_BYTES / 1e6:,.0f} MB in total. "
            "Add smaller ones, or reload the page to start again."
        )
    yield
    workspace.update(Uploads, bytes_kept=kept)


def _free_removed(key: str, uploads: Sequence[UploadedFile]) -> None:
    """Free the memory of files that are no longer in this uploader.

    After a form is cleared or a page is left, Streamlit itself keeps them until the session ends.
    """
    ids = workspace.get(Uploads).ids
    before = ids.get(key, ())
    now = tuple(upload.file_id for upload in uploads)
    if now == before:
        return
    workspace.update(Uploads, ids={**ids, key: now})
    context = get_script_run_ctx()
    if context is None or not isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        return
    for file_id in set(before) - set(now):
        context.uploaded_file_mgr.remove_file(context.session_id, file_id)


def submitted_files(uploads: Sequence[UploadedFile]) -> list[tuple[str, bytes]]:
    """Return uploaded files; show an error and return none if they are too large together."""
    with errors_shown():
        check_uploaded()
        return [(upload.name, upload.getvalue()) for upload in uploads]
    return []


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
