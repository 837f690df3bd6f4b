"""A server reads only what its pages send, and a flood of it does not hold up other tabs."""

from __future__ import annotations

import asyncio
import time

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.every_message import every_message
from ui.serving.server import MessageLimit


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
        while left:
            found.append(await receive())

    async def receive() -> Message:
        return left.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "websocket", "path": "/_stcore/stream"}
    asyncio.run(MessageLimit(app)(scope, receive, send))
    return found, sent


def received(data: bytes) -> Message:
    return {"type": "websocket.receive", "bytes": data}


@pytest.mark.parametrize("data", [paste(), files(1_000), b"\xff" * 30_000, b"\x08"])
def test_what_pages_send_and_what_is_damaged_is_passed_on_unchanged(data: bytes) -> None:
    assert passed_on(received(data)) == ([received(data)], [])


def test_messages_of_all_other_kinds_are_left_out() -> None:
    by_kind = {kind: message.SerializeToString() for kind, message in every_message()}
    by_kind["none"] = b""
    # The last field of a oneof counts.
    by_kind["two"] = by_kind["rerun_script"] + by_kind["clear_cache"]
    by_kind["last"] = paste()
    passed = (
        "stop_script",
        "rerun_script",
        "file_urls_request",
        "backend_operation_request.deferred_file",
        "last",
    )
    found = passed_on(*map(received, by_kind.values()))
    assert found == ([received(by_kind[kind]) for kind in passed], [])


def test_a_late_request_of_a_page_that_was_left_is_left_out() -> None:
    """The server would otherwise empty the page that has been opened."""

    def asked(page: str, part: str = "") -> Message:
        message = BackMsg()
        message.rerun_script.page_script_hash = page
        message.rerun_script.fragment_id = part
        return received(message.SerializeToString())

    opened = [asked("loop"), asked("loop", "player"), asked("tokens")]
    late = [asked("loop", "player")]
    # Two links in a row, the browser's Back, and a page to which the server itself has switched.
    rest = [asked("compare"), *late, asked("compare", "view"), asked("loop"), *late]
    switched = [asked("train"), asked("train", "timer"), asked("loop", "player"), asked("loop")]
    found = passed_on(*opened, *late, *rest, *switched)
    assert found == ([*opened, *rest[:1], *rest[2:], *switched], [])


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
