"""End connections that send what no page sends: Streamlit handles a message on its event loop."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.logs import event

_STREAM: Final = "/_stcore/stream"
_TOO_BIG: Final = 1009
_NOT_BYTES: Final = 1003
_BYTES_LOOKED_AT: Final = 20_000
"""A message of this size cannot ask for much, so it need not be parsed twice."""
_MOST_BYTES_OF_ALL_BUT_TEXT: Final = 1_000_000
_MOST_FILES: Final = 1_000
"""An address is made for each file that a tab is about to upload: 300,000 took 8 seconds."""
_MOST_WIDGETS: Final = 5_000
"""No page has a tenth of it."""
_BURST: Final = 60
_SECONDS_A_MESSAGE: Final = 0.05
"""Further messages wait for each other: 3,000 at once held up all other tabs for 8 seconds."""


class MessageLimit:
    """Close a tab's connection with status 1009 when it asks for more than any page does.

    A text is answered with status 1003: all messages are bytes, and Streamlit raises an error.
    More than 20 messages a second are read later; a page sends a few, and 60 at once may come.
    Texts that a visitor pastes are values of widgets, which have no limit here but Streamlit's own
    for a whole message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a connection on, and what it sends."""
        if scope["type"] != "websocket" or not scope["path"].rstrip("/").endswith(_STREAM):
            await self._app(scope, receive, send)
            return

        free_at = 0.0

        async def received() -> Message:
            nonlocal free_at
            message = await receive()
            now = time.monotonic()
            free_at = max(free_at, now - _BURST * _SECONDS_A_MESSAGE) + _SECONDS_A_MESSAGE
            if free_at > now:
                await asyncio.sleep(free_at - now)
            if message["type"] != "websocket.receive":
                return message
            data = message.get("bytes")
            if data is not None and not asks_too_much(data):
                return message
            event("message_refused", "warning", bytes=len(data or message["text"]))
            code = _NOT_BYTES if data is None else _TOO_BIG
            await send({"type": "websocket.close", "code": code})
            return {"type": "websocket.disconnect", "code": code}

        await self._app(scope, received, send)


def asks_too_much(data: bytes) -> bool:
    """Return whether a message of a tab asks for more than any page's does.

    >>> asks_too_much(BackMsg(stop_script=True).SerializeToString())
    False
    """
    if len(data) <= _BYTES_LOOKED_AT:
        return False
    try:
        message = BackMsg.FromString(data)
    except DecodeError:
        return False  # Streamlit answers it with an error
    widgets = message.rerun_script.widget_states.widgets
    of_widgets = message.rerun_script.widget_states.ByteSize()
    return (
        len(message.file_urls_request.file_names) > _MOST_FILES
        or len(widgets) > _MOST_WIDGETS
        or message.ByteSize() - of_widgets > _MOST_BYTES_OF_ALL_BUT_TEXT
    )
