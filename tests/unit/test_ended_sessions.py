"""Sessions are closed a while after their tabs, and their memory is released."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.state import SessionState

from ui.memory import allocator
from ui.memory.allocator import give_back_freed, keep_little_freed
from ui.memory.sized_cache import SizedCache
from ui.metrics import resident_bytes
from ui.shell.ended_sessions import SECONDS_AWAY, EndedSessions, StreamlitsSessions
from ui.shell.workspace import free_state

ROOT = Path(__file__).parent.parent.parent


@dataclass
class Sessions:
    """Sessions by id, and whether their tabs are gone."""

    known: dict[str, bool] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)

    def away(self) -> dict[str, bool]:
        return dict(self.known)

    def close(self, id: str) -> None:
        del self.known[id]
        self.closed.append(id)


@dataclass
class Server:
    """Sessions with a cache and a clock."""

    now: float = 0.0
    sessions: Sessions = field(default_factory=Sessions)
    cache: SizedCache = field(default_factory=lambda: SizedCache(100_000, 100_000))

    def __post_init__(self) -> None:
        self.ended = EndedSessions(self.sessions, self.cache, lambda: self.now)

    def keep(self, *visitors: str) -> None:
        for visitor in visitors:
            self.cache.keep(visitor, bytes(bytearray(20_000)), visitor=visitor)


def test_a_session_is_closed_once_its_tab_is_gone_for_long() -> None:
    server = Server()
    server.sessions.known = {"here": False, "gone": True}
    server.keep("here", "gone")
    assert server.ended.look() == 0
    server.now = SECONDS_AWAY - 1
    assert server.ended.look() == 0
    server.now = SECONDS_AWAY
    assert server.ended.look() == 1
    assert server.sessions.closed == ["gone"]
    assert server.cache.visitors() == {"here"}
    assert server.cache.bytes_of("gone") == 0
    assert not server.ended.nobody_is_here
    assert server.ended.look() == 0
    server.sessions.known = {}
    assert server.ended.look() == 1
    assert server.ended.nobody_is_here


def test_a_session_whose_tab_comes_back_begins_a_new_wait() -> None:
    server = Server()
    for now, is_away in ((0.0, True), (SECONDS_AWAY - 1, False), (SECONDS_AWAY, True)):
        server.now, server.sessions.known = now, {"one": is_away}
        assert server.ended.look() == 0
    server.now = 2 * SECONDS_AWAY - 1
    assert server.ended.look() == 0
    server.now = 2 * SECONDS_AWAY
    assert server.ended.look() == 1


@pytest.mark.parametrize("runner", [None, object()])
def test_the_state_of_a_closed_session_is_freed_unless_its_script_still_runs(
    runner: object,
) -> None:
    state, fragments = SessionState(), MemoryFragmentStorage()
    state["corpus"] = "a long text"
    calls = state._new_widget_state.widget_metadata
    calls["a button"] = cast("Any", "a callback, which refers to what its page drew")
    fragments.register("part", lambda: None)
    session = SimpleNamespace(
        id="one", session_state=state, _fragment_storage=fragments, _scriptrunner=runner
    )
    listed = [SimpleNamespace(session=session)]
    manager = SimpleNamespace(list_sessions=lambda: list(listed))
    runtime = SimpleNamespace(_session_mgr=manager, close_session=lambda _id: listed.clear())
    StreamlitsSessions(runtime).close("one")  # pyright: ignore[reportArgumentType]
    assert not listed
    held = "corpus" in state, fragments.contains("part"), bool(calls)
    assert held == (runner is not None,) * 3


def test_a_value_that_no_page_sends_does_not_keep_its_session() -> None:
    state = SessionState()
    widgets = state._new_widget_state
    widgets.set_widget_from_proto(WidgetState(id="a player", json_value="{"))
    metadata = SimpleNamespace(value_type="json_value", deserializer=lambda value: value)
    widgets.widget_metadata["a player"] = cast("Any", metadata)
    with pytest.raises(ValueError, match="Expecting property name"):
        state["a player"]
    session = cast(
        "Any",
        SimpleNamespace(
            session_state=state, _fragment_storage=MemoryFragmentStorage(), _scriptrunner=None
        ),
    )
    free_state(session)
    assert not widgets.states
    assert not widgets.widget_metadata


def test_sessions_that_streamlit_closed_itself_are_given_back_too() -> None:
    server = Server()
    server.sessions.known = {"one": True, "other": False}
    server.keep("one", "other")
    server.ended.look()
    server.sessions.known = {}
    assert server.ended.look() == 2
    assert server.cache.visitors() == set()
    assert server.sessions.closed == []


def test_the_session_away_for_longest_can_be_closed_at_once() -> None:
    server = Server()
    server.sessions.known = {"here": False, "first": True}
    assert not server.ended.close_longest_away()
    server.ended.look()
    server.now = 1
    server.sessions.known["second"] = True
    server.ended.look()
    assert server.ended.close_longest_away()
    assert server.ended.close_longest_away()
    assert not server.ended.close_longest_away()
    assert server.sessions.closed == ["first", "second"]


def test_freed_memory_is_given_back() -> None:
    if sys.platform != "linux":
        assert not give_back_freed()
        return
    # Small blocks, with one at the end that keeps the heap from shrinking by itself.
    blocks = [bytes(2_000) for _ in range(100_000)]
    last = bytes(2_000)
    del blocks
    before = resident_bytes()
    assert give_back_freed()
    assert resident_bytes() < before - 50_000_000
    assert len(last) == 2_000


@pytest.mark.parametrize("why", ["another system", "another C library"])
def test_where_the_allocator_cannot_be_told_nothing_is_given_back(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "another system":
        monkeypatch.setattr(sys, "platform", "darwin")
    else:
        monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    monkeypatch.setattr(allocator, "_glibc", allocator._glibc.__wrapped__)
    assert give_back_freed() is False
    keep_little_freed()


FREE_LARGE_BLOCKS = """
import sys
from ui.memory.allocator import keep_little_freed
from ui.metrics import resident_bytes
if sys.argv[1] == "told":
    keep_little_freed()
blocks = [bytes([n]) * (1_000_000 if n % 2 else 1_000) for n in range(200)]
full = resident_bytes()
del blocks[1::2]
print(full - resident_bytes())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator alone can be told")
def test_large_blocks_go_back_as_soon_as_they_are_freed() -> None:
    def given_back(how: str, **variables: str) -> int:
        command = [sys.executable, "-c", FREE_LARGE_BLOCKS, how]
        done = subprocess.run(
            command, cwd=ROOT, env={**plain, **variables}, capture_output=True, check=True
        )
        return int(done.stdout)

    # Leave out variables of the environment that would configure the allocator.
    telling = ("MALLOC", "GLIBC_TUNABLES")
    plain = {k: value for k, value in os.environ.items() if not any(each in k for each in telling)}
    assert given_back("told") > 90_000_000
    # glibc itself raises the threshold to this once a block of 32 MB has been freed.
    assert given_back("as it is", MALLOC_MMAP_THRESHOLD_=str(32 * 2**20)) < 50_000_000
