"""Sessions are closed a while after their tabs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ui.serving.ended_visits import SECONDS_AWAY, EndedVisits


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
