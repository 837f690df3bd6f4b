"""Limit what tabs can upload, and what their messages can ask for.

Streamlit limits one file, and a proxy the rate at which files come. Neither knows what a server
holds in memory until tabs are closed, which a few tabs could fill: see `UploadLimit`.

Streamlit handles messages on its event loop, one by one. It limits the size of a message, and a
proxy the number of connections. Neither limits what comes over one connection: 3,000 requests to
draw a page held up all tabs for 16 seconds, and one message of 4.5 MB that announces 1.5 million
files to upload for 78 seconds: see `MessagePace`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.host.logs import event, short_id
from ui.shell.file_upload import MAX_BYTES, MAX_BYTES_OF_ALL, bytes_held, max_file_bytes

_UPLOAD: Final = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+/?$")
_REFUSAL: Final = PlainTextResponse("These files are too large in total.", status_code=413)
_BURST: Final = 60
_SECONDS_A_MESSAGE: Final = 0.05
_MAX_FILES: Final = 1_000
_SMALL: Final = 20_000
"""A message of so few bytes cannot announce many files, so it need not be parsed twice."""
_TOO_BIG: Final = 1009


def _held_by_runtime() -> Mapping[str, int]:
    return bytes_held(runtime.get_instance().uploaded_file_mgr)


class UploadLimit:
    """Refuse a tab's files once those held and on their way exceed MAX_BYTES.

    The file that exceeds it is still accepted, so that the page can explain why the next ones are
    not. The same holds for all tabs together and MAX_BYTES_OF_ALL.
    """

    def __init__(
        self, app: ASGIApp, held: Callable[[], Mapping[str, int]] = _held_by_runtime
    ) -> None:
        self._app = app
        self._held = held
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        upload = _UPLOAD.search(scope["path"]) if scope.get("method") == "PUT" else None
        if upload is None:
            await self._app(scope, receive, send)
            return
        session, size = upload[1], _content_length(scope)
        held = Counter(self._held()) + self._arriving
        if held[session] > MAX_BYTES or held.total() > MAX_BYTES_OF_ALL:
            event("upload_refused", "warning", session=short_id(session), bytes=size)
            await _REFUSAL(scope, receive, send)
            return
        self._arriving[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            event("upload", session=short_id(session), bytes=size)
            self._arriving -= Counter({session: size})


def _content_length(scope: Scope) -> int:
    """Return the content length of a request; without one, the largest size of a file."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    if length.isdigit():
        return int(length)
    return max_file_bytes()


class MessagePace:
    """Read 20 messages of a connection a second; a page sends a few, and bursts of 60 pass.

    Close the connection, with status 1009, when a message announces more than 1,000 files.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a connection on, and what it sends."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        free_at = 0.0

        async def paced() -> Message:
            nonlocal free_at
            message = await receive()
            now = time.monotonic()
            free_at = max(free_at, now - _BURST * _SECONDS_A_MESSAGE) + _SECONDS_A_MESSAGE
            if free_at > now:
                await asyncio.sleep(free_at - now)
            data = message.get("bytes") or b""
            if not _announces_many_files(data):
                return message
            event("message_refused", "warning", bytes=len(data))
            await send({"type": "websocket.close", "code": _TOO_BIG})
            return {"type": "websocket.disconnect", "code": _TOO_BIG}

        await self._app(scope, paced, send)


def _announces_many_files(data: bytes) -> bool:
    if len(data) > _SMALL:
        # Streamlit closes the connection of a message that cannot be parsed.
        with suppress(DecodeError):
            return len(BackMsg.FromString(data).file_urls_request.file_names) > _MAX_FILES
    return False
