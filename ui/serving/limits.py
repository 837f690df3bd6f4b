"""Limit what tabs can upload, and what their messages can ask for.

Streamlit limits one file, and a proxy the rate at which files come. Neither knows what a server
holds in memory until tabs are closed, which a few tabs could fill: see `UploadLimit`.

Streamlit handles messages on its event loop, one by one. It limits the size of a message, and a
proxy the number of connections. Neither limits what comes over one connection: 3,000 requests to
draw a page held up all tabs for 16 seconds, and one message of 4.5 MB that announces 1.5 million
files to upload for 78 seconds. And Streamlit obeys any tab: it clears the caches of all tabs, or
reads the server's git repository, 200 times in 27 seconds. See `MessageLimit`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from google.protobuf.message import DecodeError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.host import Code, event, short_id
from ui.shell import MAX_BYTES, MAX_BYTES_OF_ALL, bytes_held, max_file_bytes

_UPLOAD: Final = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+/?$")
_REFUSAL: Final = PlainTextResponse("These files are too large in total.", status_code=413)
_BURST: Final = 60
_SECONDS_A_MESSAGE: Final = 0.05
_MAX_FILES: Final = 1_000
_TOO_BIG: Final = 1009
_SENT_BY_PAGES: Final = ("rerun_script", "stop_script", "file_urls_request")
"""Kinds of messages, as in `BackMsg`. `backend_operation_request` is the fourth."""
_ASKED_BY_PAGES: Final = "deferred_file"
"""The only operation that pages request: the file of a download button, made when it is pressed."""


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


class MessageLimit:
    """Pass on only what the app's own pages send, and that at a pace.

    Messages of other kinds are left out. Of the rest, 20 of a connection are read a second; a page
    sends a few, and bursts of 60 pass. A message that announces more than 1,000 files closes the
    connection, with status 1009.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a connection on, and what it sends."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        free_at = 0.0

        async def limited() -> Message:
            nonlocal free_at
            while True:
                message = await receive()
                now = time.monotonic()
                free_at = max(free_at, now - _BURST * _SECONDS_A_MESSAGE) + _SECONDS_A_MESSAGE
                if free_at > now:
                    await asyncio.sleep(free_at - now)
                data = message.get("bytes")
                if data is None:
                    return message
                try:
                    parsed = BackMsg.FromString(data)
                except DecodeError:
                    return message  # Streamlit closes the connection
                is_sent_by_pages = _is_sent_by_pages(parsed)
                if is_sent_by_pages and len(parsed.file_urls_request.file_names) <= _MAX_FILES:
                    return message
                kind = Code(parsed.WhichOneof("type") or "none")
                event("message_refused", "warning", kind=kind, bytes=len(data))
                if is_sent_by_pages:
                    await send({"type": "websocket.close", "code": _TOO_BIG})
                    return {"type": "websocket.disconnect", "code": _TOO_BIG}

        await self._app(scope, limited, send)


def _is_sent_by_pages(message: BackMsg) -> bool:
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") == _ASKED_BY_PAGES
    return kind in _SENT_BY_PAGES
