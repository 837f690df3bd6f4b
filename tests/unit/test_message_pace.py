"""A tab that floods the server with messages or files does not hold up the others."""

from __future__ import annotations

import asyncio
import time

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.serving.limits import MessagePace


def paste() -> bytes:
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="text", string_value="hug " * 2_000_000)
    return message.SerializeToString()


def files(n_files: int) -> bytes:
    message = BackMsg()
    message.file_urls_request.file_names.extend(["a name of thirty characters.txt"] * n_files)
    return message.SerializeToString()


def passed_on(*messages: Message) -> tuple[list[Message], list[Message]]:
    """Return what the application receives of messages, and what is sent to the tab."""
    found: list[Message] = []
    sent: list[Message] = []
    left = list(messages)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.extend([await receive() for _ in messages])

    async def receive() -> Message:
        return left.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "websocket", "path": "/_stcore/stream"}
    asyncio.run(MessagePace(app)(scope, receive, send))
    return found, sent


@pytest.mark.parametrize("data", [paste(), files(1_000), b"\xff" * 30_000, b"", b"\x08"])
def test_what_pages_send_is_passed_on_unchanged(data: bytes) -> None:
    message = {"type": "websocket.receive", "bytes": data}
    assert passed_on(message) == ([message], [])


def test_a_text_is_passed_on_unchanged() -> None:
    message = {"type": "websocket.receive", "text": "hug"}
    assert passed_on(message) == ([message], [])


def test_a_tab_that_announces_too_many_files_is_disconnected() -> None:
    found, sent = passed_on({"type": "websocket.receive", "bytes": files(1_001)})
    assert found == [{"type": "websocket.disconnect", "code": 1009}]
    assert sent == [{"type": "websocket.close", "code": 1009}]


def test_a_flood_of_messages_is_read_at_a_pace() -> None:
    begin = time.monotonic()
    passed_on(*([{"type": "websocket.receive", "bytes": b"\x08"}] * 70))
    assert time.monotonic() - begin >= 10 * 0.05


def test_a_burst_of_messages_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_sleep(seconds: float) -> None:
        raise AssertionError(seconds)

    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    passed_on(*([{"type": "websocket.receive", "bytes": b"\x08"}] * 60))
