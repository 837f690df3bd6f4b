"""Refuse uploads over the limit in the server, before they arrive."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config, runtime

from ui.shell.file_upload import MOST_BYTES, bytes_held

_UPLOAD: Final = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+/?$")


class UploadLimit:
    """Refuse a visitor's files once those received and on their way exceed MOST_BYTES.

    The file that exceeds it is still accepted, so that the page can explain why the next ones are
    not. So a visitor holds at most MOST_BYTES and one file more.
    """

    def __init__(self, app: ASGIApp, held: Callable[[str], int] | None = None) -> None:
        self._app = app
        self._held = held or _held_by_runtime
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        session_id = _session_of(scope)
        if session_id is None:
            await self._app(scope, receive, send)
            return
        if self._held(session_id) + self._arriving[session_id] > MOST_BYTES:
            refusal = PlainTextResponse("These files are too large in total.", status_code=413)
            await refusal(scope, receive, send)
            return
        size = _size_of(scope)
        self._arriving[session_id] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._arriving[session_id] -= size
            if not self._arriving[session_id]:
                del self._arriving[session_id]


def _session_of(scope: Scope) -> str | None:
    """Return the session that a request uploads a file for; None for other requests."""
    if scope["type"] != "http" or scope["method"] != "PUT":
        return None
    found = _UPLOAD.search(scope["path"])
    return found and found[1]


def _size_of(scope: Scope) -> int:
    """Return the content length of a request; without one, the largest size of a file."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    if length.isdigit():
        return int(length)
    return config.get_option("server.maxUploadSize") * 1024 * 1024


def _held_by_runtime(session_id: str) -> int:
    return bytes_held(runtime.get_instance().uploaded_file_mgr, session_id)
