"""Visitors take turns, and each has a few places in the queue."""

from __future__ import annotations

from threading import Event, Semaphore

import pytest

from tests.waiting import wait_until
from ui.work.background import Background, TooMuchWorkError
from ui.work.task import Progress, Task

TextWork = Background[Progress, str]


def test_whoever_was_served_last_waits_behind_all_others() -> None:
    background = TextWork("test", max_waiting=9, max_cached=9)
    go_on = Event()
    begun = Semaphore(0)
    done: list[str] = []

    def begin_work(name: str) -> None:
        def work(_task: Task[Progress]) -> str:
            begun.release()
            assert go_on.wait(60)
            done.append(name)
            return name

        background.begin(name, work, visitor=name[0])

    def order() -> list[str]:
        waiting = ("a2", "a3", "b1", "b2", "c1", "d1")
        known = {name: found for name in waiting if (found := background.find(name))}
        queued = [name for name, found in known.items() if found.state == "queued"]
        return sorted(queued, key=lambda name: known[name].n_ahead)

    begin_work("a1")
    assert begun.acquire(timeout=60)
    for name in ("a2", "a3", "b1", "c1", "b2"):
        begin_work(name)
    assert order() == ["b1", "c1", "a2", "b2", "a3"]
    begin_work("d1")
    assert order() == ["b1", "c1", "d1", "a2", "b2", "a3"]
    background.cancel("b1")
    assert order() == ["c1", "b2", "d1", "a2", "a3"]
    go_on.set()
    wait_until(background, "a3")
    assert done == ["a1", "c1", "b2", "d1", "a2", "a3"]
    background.close()


def test_background_work_is_done_in_turns_and_the_place_is_the_one_in_this_order() -> None:
    background = TextWork("test", max_waiting=9, max_cached=9)
    go_on = Event()
    done: list[str] = []

    def begin_work(name: str) -> str:
        def work(_task: Task[Progress]) -> str:
            assert go_on.wait(60)
            done.append(name)
            return name

        background.begin(name, work, visitor=name[0])
        return name

    for name in ("a1", "a2", "a3", "b1"):
        begin_work(name)
    wait_until(background, "a1", lambda status: status.state == "running")
    assert [background.status(name).n_ahead for name in ("a1", "a2", "a3", "b1")] == [0, 2, 3, 1]
    go_on.set()
    wait_until(background, "a3")
    assert done == ["a1", "b1", "a2", "a3"]
    background.close()


def test_a_visitor_has_a_few_places_and_others_have_theirs() -> None:
    background = TextWork("test", max_waiting=9, max_cached=9, max_per_visitor=2)
    go_on = Event()

    def wait(_task: Task[Progress]) -> str:
        assert go_on.wait(60)
        return "done"

    for id in ("a1", "a2"):
        background.begin(id, wait, visitor="a")
    with pytest.raises(TooMuchWorkError, match="You already have 2 running or waiting"):
        background.begin("a3", wait, visitor="a")
    with pytest.raises(TooMuchWorkError):
        background.check_places("a")
    background.begin("b1", wait, visitor="b")
    # The visitor has a place again once one of their jobs has ended.
    background.cancel("a2")
    background.begin("a3", wait, visitor="a")
    go_on.set()
    assert wait_until(background, "a3").result == "done"
    background.close()
