"""Bound what a tab's messages may ask for: Streamlit handles them on its event loop, one by one.

Streamlit limits the size of a message, and a proxy the number of connections. Neither limits what
comes over one connection: 3,000 requests to draw a page held up all tabs for 16 seconds, and one
message of 4.5 MB that announces 1.5 million files to upload for 78 seconds.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Final

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.host.logs import event

_BURST: Final = 60
_SECONDS_A_MESSAGE: Final = 0.05
_MAX_FILES: Final = 1_000
_SMALL: Final = 20_000
"""A message of so few bytes cannot announce many files, so it need not be parsed twice."""
_TOO_BIG: Final = 1009


class MessagePace:
    """Read 20 messages of a connection a second; a page sends a few, and 60 at once may come.

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
