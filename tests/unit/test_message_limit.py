"""A tab that asks for more than any page does is disconnected before Streamlit looks at it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.shell.message_limit import MessageLimit


def paste() -> BackMsg:
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="text", string_value="hug " * 2_000_000)
    return message


def many_files() -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names.extend(["f.txt"] * 5_000)
    return message


def many_widgets() -> BackMsg:
    message = BackMsg()
    for number in range(6_000):
        message.rerun_script.widget_states.widgets.add(id=f"widget {number}", bool_value=True)
    return message


def long_address() -> BackMsg:
    message = BackMsg()
    message.rerun_script.query_string = "text=" + "a" * 2_000_000
    return message


def passed_on(data: bytes | str) -> tuple[list[Message], list[Message]]:
    """Return what the application receives of a message, and what is sent to the tab."""
    found: list[Message] = []
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.append(await receive())

    async def receive() -> Message:
        return {"type": "websocket.receive", "text" if isinstance(data, str) else "bytes": data}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "websocket", "path": "/_stcore/stream"}
    asyncio.run(MessageLimit(app)(scope, receive, send))
    return found, sent


@pytest.mark.parametrize("make", [many_files, many_widgets, long_address])
def test_a_tab_that_asks_for_too_much_is_disconnected(make: Callable[[], BackMsg]) -> None:
    found, sent = passed_on(make().SerializeToString())
    assert found == [{"type": "websocket.disconnect", "code": 1009}]
    assert sent == [{"type": "websocket.close", "code": 1009}]


def test_a_text_ends_the_connection_without_an_error() -> None:
    found, sent = passed_on("hug")
    assert found == [{"type": "websocket.disconnect", "code": 1003}]
    assert sent == [{"type": "websocket.close", "code": 1003}]


@pytest.mark.parametrize("data", [paste().SerializeToString(), b"\xff" * 30_000, b"", b"\x08"])
def test_everything_else_is_passed_on_unchanged(data: bytes) -> None:
    assert passed_on(data) == ([{"type": "websocket.receive", "bytes": data}], [])


def seconds_to_take(n_messages: int) -> float:
    """Return how long an application waits for messages that all arrive at once."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for _ in range(n_messages):
            await receive()

    async def receive() -> Message:
        return {"type": "websocket.receive", "bytes": b"\x08"}

    async def send(message: Message) -> None:
        raise AssertionError

    begin = time.monotonic()
    asyncio.run(MessageLimit(app)({"type": "websocket", "path": "/_stcore/stream"}, receive, send))
    return time.monotonic() - begin


def test_a_flood_of_messages_is_read_at_a_pace() -> None:
    assert seconds_to_take(70) >= 10 * 0.05


def test_a_burst_of_messages_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_sleep(seconds: float) -> None:
        raise AssertionError(seconds)

    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    seconds_to_take(60)
