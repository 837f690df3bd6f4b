"""Files from visitors: how much of one visitor's the server holds, and when it lets go of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileManager

from bpe_core.errors import BpeError
from ui.shell import workspace

MOST_BYTES: Final = 500_000_000
"""Of one visitor's files that the server holds at once, in memory; and of those that it keeps on
its disk in one visit. Of one file, see `maxUploadSize` in .streamlit/config.toml."""
LIMIT: Final = f"Up to {MOST_BYTES // 1_000_000} MB together."


class TooMuchUploadedError(BpeError):
    """A visitor's files are larger together than the server takes."""


def upload_files(
    label: str,
    *,
    key: str,
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
    on_change: Callable[[], None] | None = None,
) -> list[UploadedFile]:
    """Draw an uploader of several files, and return what is in it; see `check_uploaded`."""
    uploads = st.file_uploader(
        label,
        accept_multiple_files=True,
        key=key,
        label_visibility=label_visibility,
        on_change=on_change,
    )
    _let_go(key, uploads)
    return uploads


def upload_file(label: str, *, key: str) -> UploadedFile | None:
    """Draw an uploader of one file, and return what is in it; see `check_uploaded`."""
    upload = st.file_uploader(label, key=key)
    _let_go(key, [] if upload is None else [upload])
    return upload


def check_uploaded() -> None:
    """Raise TooMuchUploadedError where the server holds more of this visitor's files than it takes.

    Where the limit is passed, further files are refused before they arrive: see `UploadLimit`.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    if bytes_held(context.uploaded_file_mgr, context.session_id) > MOST_BYTES:
        raise TooMuchUploadedError(
            f"Your files have more than {MOST_BYTES / 1e6:,.0f} MB together, so no more are taken. "
            "Remove some, or reload the page to start again."
        )


@contextmanager
def counted_as_kept(n_bytes: int) -> Iterator[None]:
    """Count what is kept on disk within the block as this visitor's.

    Raises TooMuchUploadedError, before anything is kept, where that would be more than is kept of
    one visitor.
    """
    kept = workspace.current().bytes_kept + n_bytes
    if kept > MOST_BYTES:
        raise TooMuchUploadedError(
            f"The files kept for you would have more than {MOST_BYTES / 1e6:,.0f} MB together. "
            "Add smaller ones, or reload the page to start again."
        )
    yield
    workspace.update(bytes_kept=kept)


def bytes_held(manager: UploadedFileManager, session_id: str) -> int:
    """Return how many bytes of a session's files are in the server's memory."""
    if not isinstance(manager, MemoryUploadedFileManager):
        return 0
    files = manager.file_storage.get(session_id, {})
    return sum(len(file.data) for file in list(files.values()))


def _let_go(key: str, uploads: Sequence[UploadedFile]) -> None:
    """Remove files that were in this uploader and are not any more.

    Streamlit keeps them until the session ends where a form was cleared or the page was left.
    """
    before = workspace.current().uploaded.get(key, ())
    now = tuple(upload.file_id for upload in uploads)
    if now == before:
        return
    workspace.update(uploaded={**workspace.current().uploaded, key: now})
    context = get_script_run_ctx()
    if context is None or not isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        return
    for file_id in set(before) - set(now):
        context.uploaded_file_mgr.remove_file(context.session_id, file_id)
