"""Sessions are closed a while after their tabs, and then leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import weakref
from dataclasses import dataclass, field

import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.new_process import run_python
from ui.serving import upkeep
from ui.serving.upkeep import SECONDS_AWAY, SECONDS_CLOSED, ClosedTabs, EndedVisits


@dataclass
class Server:
    """Sessions with tabs, those that were closed, and a clock."""

    now: float = 0.0
    active: set[str] = field(default_factory=set)
    closed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.visits = EndedVisits(lambda: self.now)

    def is_active_session(self, session_id: str) -> bool:
        return session_id in self.active

    def close_session(self, session_id: str) -> None:
        self.closed.append(session_id)

    def look(self, now: float) -> int:
        self.now = now
        return self.visits.close(self)


def test_a_session_is_closed_once_its_tab_is_gone_for_long() -> None:
    server = Server(active={"here"})
    for id in ("here", "gone"):
        server.visits.note(id)
    assert [server.look(now) for now in (0.0, SECONDS_AWAY - 1, SECONDS_AWAY)] == [0, 0, 1]
    assert server.closed == ["gone"]
    assert server.visits.is_anybody_here
    server.active.clear()
    assert [server.look(now) for now in (500.0, 500 + SECONDS_AWAY)] == [0, 1]
    assert server.closed == ["gone", "here"]
    assert not server.visits.is_anybody_here


def test_a_session_whose_tab_comes_back_begins_a_new_wait() -> None:
    server = Server()
    server.visits.note("one")
    server.look(0.0)
    server.active.add("one")
    server.look(SECONDS_AWAY - 1)
    server.active.clear()
    assert [server.look(SECONDS_AWAY), server.look(2 * SECONDS_AWAY - 1)] == [0, 0]
    assert server.look(2 * SECONDS_AWAY) == 1


def disconnect(key: str, code: int) -> None:
    """Let a connection end with a code, behind the middleware that notes it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert await receive() == message

    async def receive() -> Message:
        return message

    async def send(message: Message) -> None:
        raise AssertionError(message)

    message = {"type": "websocket.disconnect", "code": code}
    scope: Scope = {"type": "websocket", "headers": [(b"sec-websocket-key", key.encode())]}
    asyncio.run(ClosedTabs(app)(scope, receive, send))


@pytest.mark.parametrize(
    ("code", "seconds"),
    [
        (1000, SECONDS_CLOSED),  # a program
        (1001, SECONDS_CLOSED),  # a browser whose tab is closed, reloaded, or shows another site
        (1005, SECONDS_AWAY),  # a lost connection, or one that the page replaces
        (1006, SECONDS_AWAY),
        (1012, SECONDS_AWAY),
    ],
)
def test_a_session_whose_tab_was_closed_is_closed_sooner_than_one_that_was_cut_off(
    monkeypatch: pytest.MonkeyPatch, code: int, seconds: float
) -> None:
    server = Server()
    monkeypatch.setattr(upkeep, "visits", server.visits)
    server.visits.note("one", "its key")
    server.visits.note("other", "another key")
    disconnect("its key", code)
    found = [server.look(now) for now in (0.0, seconds - 0.1, seconds)]
    assert found == [0, 0, 1 if seconds == SECONDS_CLOSED else 2]
    assert server.closed[0] == "one"


def test_a_session_that_was_resumed_is_not_closed_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    monkeypatch.setattr(upkeep, "visits", server.visits)
    server.visits.note("one", "its key")
    disconnect("its key", 1001)
    server.active.add("one")
    server.look(0.0)
    server.active.clear()
    assert [server.look(now) for now in (1.0, 1 + SECONDS_CLOSED, 1 + SECONDS_AWAY)] == [0, 0, 1]


def test_what_visitors_held_while_memory_was_settled_is_freed_once_nobody_is_left() -> None:
    class Session:
        def __init__(self) -> None:
            self.script = self

    session = Session()
    is_alive = weakref.ref(session)
    gc.freeze()
    del session
    gc.collect()
    assert is_alive() is not None
    upkeep._collect(1)  # pyright: ignore[reportPrivateUsage]
    assert is_alive() is None


def test_streamlit_refers_to_the_last_session_until_it_is_replaced() -> None:
    code = """
import asyncio, gc, weakref
from streamlit.components.lib.local_component_registry import LocalComponentRegistry
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.cache_storage_manager_config import create_default_cache_storage_manager
from ui.serving.upkeep import _NoTab, _replace_last_session

async def main():
    runtime = Runtime(RuntimeConfig(
        script_path="app.py",
        component_registry=LocalComponentRegistry(),
        media_file_storage=MemoryMediaFileStorage("/media"),
        uploaded_file_manager=MemoryUploadedFileManager("/upload"),
        cache_storage_manager=create_default_cache_storage_manager(),
    ))
    await runtime.start()
    tab = _NoTab()
    id = runtime.connect_session(tab, {})
    session = weakref.ref(runtime.get_app_session(id))
    runtime.handle_backmsg(id, BackMsg(file_urls_request=FileURLsRequest()))
    await tab.is_answered.wait()
    runtime.close_session(id)
    gc.collect()
    print(session() is None)
    await _replace_last_session(runtime)
    gc.collect()
    print(session() is None)
    runtime.stop()
    await runtime.stopped

asyncio.run(main())
"""
    assert run_python(code) == "False\nTrue\n"


def test_the_server_uses_no_huge_pages() -> None:
    code = """
from pathlib import Path
from ui.serving.upkeep import use_small_pages
use_small_pages()
print(*(line for line in Path("/proc/self/status").read_text().splitlines() if "THP_" in line))
"""
    assert run_python(code) == "THP_enabled:\t0\n"
