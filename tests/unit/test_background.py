"""Background work is shared by id and reports how it goes; visitors take turns."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from threading import Event, Semaphore
from types import SimpleNamespace

import pytest

import bpe_core as bpe
from bpe_core.vocabulary import Reachability
from tests.waiting import MAX_WAIT_SECONDS, wait_until
from ui.host import server_cache
from ui.work import (
    Progress,
    Status,
    Task,
    TooMuchWorkError,
    UnknownWorkError,
    WorkKind,
    stopper,
)
from ui.work import background as turns
from ui.work.background import MAX_ENDED, Background, current_visitor
from ui.work.work_part import seconds_left

TEXT = WorkKind[Progress, str]("test", max_waiting=2)
MANY = WorkKind[Progress, str]("many", max_waiting=9)


@pytest.fixture
def background() -> Iterator[Background]:
    background = Background()
    yield background
    background.clear()


@dataclass(frozen=True)
class Works:
    """The work of a kind, by its id."""

    background: Background
    kind: WorkKind[Progress, str] = TEXT

    def status(self, id: str) -> Status[Progress, str]:
        return self.background.status(self.kind, id)


def until_cancelled(task: Task[Progress]) -> str | None:
    should_stop = stopper(task)
    while not should_stop(1, 4):
        time.sleep(0.01)
    return None


def at_once(_task: Task[Progress]) -> str:
    return "done"


def test_work_with_the_same_id_is_done_once(background: Background) -> None:
    times: list[int] = []

    def work(_task: Task[Progress]) -> str:
        times.append(1)
        return "done"

    for _ in range(3):
        background.begin(TEXT, "a", work)
    assert wait_until(Works(background), "a").result == "done"
    background.begin(TEXT, "a", work)
    assert times == [1]


def test_short_work_is_done_on_return_even_if_other_work_is_queued(background: Background) -> None:
    background.begin(TEXT, "long", until_cancelled)
    status = background.begin(TEXT, "short", at_once, is_short=True, about="hugs")
    assert (status.state, status.result, status.about) == ("finished", "done", "hugs")
    assert background.find(TEXT, "short") is not None


def test_work_reports_progress_and_can_be_cancelled(background: Background) -> None:
    background.begin(TEXT, "a", until_cancelled)
    status = wait_until(Works(background), "a", lambda status: status.progress is not None)
    assert (status.progress, status.share) == (Progress(1, 4), 0.25)
    assert seconds_left(status) == pytest.approx(status.elapsed_seconds * 3)
    background.cancel(TEXT, "a")
    status = wait_until(Works(background), "a")
    assert (status.state, status.result, status.problem) == ("cancelled", None, None)
    # Starting it again has no effect until the cancelled work is forgotten.
    background.begin(TEXT, "a", at_once)
    assert background.status(TEXT, "a").state == "cancelled"
    background.forget(TEXT, "a")
    background.begin(TEXT, "a", at_once)
    assert wait_until(Works(background), "a").result == "done"


def test_queued_work_that_is_cancelled_never_starts(background: Background) -> None:
    background.begin(TEXT, "a", until_cancelled)
    background.begin(TEXT, "b", at_once)
    assert background.status(TEXT, "b").n_ahead == 1
    background.cancel(TEXT, "b")
    assert background.status(TEXT, "b").state == "cancelled"
    background.forget(TEXT, "a")
    background.begin(TEXT, "c", at_once)
    assert wait_until(Works(background), "c").result == "done"
    assert background.status(TEXT, "b").result is None


def test_the_queue_is_bounded_and_the_oldest_finished_work_is_forgotten(
    background: Background,
) -> None:
    background.begin(TEXT, "a", until_cancelled)
    wait_until(Works(background), "a", lambda status: status.state == "running")
    background.begin(TEXT, "b", at_once)
    background.begin(TEXT, "c", at_once)
    with pytest.raises(TooMuchWorkError, match="2 others are already waiting"):
        background.begin(TEXT, "d", at_once)
    with pytest.raises(UnknownWorkError, match="Begin again"):
        background.status(TEXT, "d")
    assert background.find(TEXT, "d") is None
    # Other kinds have queues of their own.
    background.begin(MANY, "d", at_once)
    wait_until(Works(background, MANY), "d")
    background.cancel(TEXT, "a")
    wait_until(Works(background), "c")
    for number in range(MAX_ENDED):
        background.begin(TEXT, f"short {number}", at_once, is_short=True)
    with pytest.raises(UnknownWorkError):
        background.status(TEXT, "a")
    assert background.status(TEXT, f"short {MAX_ENDED - 1}").result == "done"
    assert background.status(MANY, "d").result == "done"


def test_work_whose_result_the_cache_dropped_can_be_begun_again(background: Background) -> None:
    background.begin(TEXT, "a", at_once, is_short=True)
    background.begin(TEXT, "live", until_cancelled)
    server_cache.forget()
    assert background.status(TEXT, "live").is_live
    with pytest.raises(UnknownWorkError):
        background.status(TEXT, "a")
    background.begin(TEXT, "a", lambda _task: "done again", is_short=True)
    assert background.status(TEXT, "a").result == "done again"
    background.cancel(TEXT, "live")


def test_an_expected_error_is_shown_and_an_unexpected_one_is_logged_without_its_message(
    background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    def foreseen(_task: Task[Progress]) -> str:
        raise bpe.ConfigError("too small")

    typed = "".join(["sec", "ret"])

    def unforeseen(_task: Task[Progress]) -> str:
        raise ValueError(typed)

    background.begin(TEXT, "a", foreseen, is_short=True)
    assert background.status(TEXT, "a").problem == "too small"
    with caplog.at_level(logging.ERROR):
        background.begin(TEXT, "b", unforeseen, is_short=True)
    status = background.status(TEXT, "b")
    assert (status.state, status.result) == ("failed", None)
    assert status.problem == "It stopped because of an error in the app (ValueError)."
    assert "unforeseen" in caplog.text
    assert typed not in caplog.text


def test_a_panic_is_reported_and_queued_work_goes_on(background: Background) -> None:
    class PanicError(BaseException):
        """A stand-in for PyO3's panic, which doesn't inherit from Exception either."""

    def panics(_task: Task[Progress]) -> str:
        raise PanicError

    background.begin(TEXT, "a", panics)
    background.begin(TEXT, "b", at_once)
    assert wait_until(Works(background), "b").state == "finished"
    assert (background.status(TEXT, "a").state, background.status(TEXT, "a").problem) == (
        "failed",
        "It stopped because of an error in the app (PanicError).",
    )


@pytest.mark.parametrize("ends_program", [KeyboardInterrupt, SystemExit])
def test_a_system_exit_ends_the_callers_thread_but_not_the_worker(
    background: Background, ends_program: type[BaseException]
) -> None:
    def ends(_task: Task[Progress]) -> str:
        raise ends_program

    with pytest.raises(ends_program):
        background.begin(TEXT, "a", ends, is_short=True)
    with pytest.raises(UnknownWorkError):
        background.status(TEXT, "a")
    background.begin(TEXT, "a", at_once, is_short=True)
    assert background.status(TEXT, "a").result == "done"
    # An error that ended the worker thread would leave queued work waiting for ever.
    background.begin(TEXT, "b", ends)
    background.begin(TEXT, "c", at_once)
    assert wait_until(Works(background), "c").result == "done"
    assert background.status(TEXT, "b").state == "failed"


def test_clearing_cancels_running_and_queued_work_and_leaves_no_thread(
    background: Background,
) -> None:
    begun: list[Task[Progress]] = []

    def until_cleared(task: Task[Progress]) -> str | None:
        begun.append(task)
        return until_cancelled(task)

    background.begin(TEXT, "a", until_cleared)
    wait_until(Works(background), "a", lambda status: status.progress is not None)
    background.begin(TEXT, "b", until_cleared)
    background.begin(MANY, "c", at_once)
    background.clear()
    assert [(task.is_cancelled, task.is_wanted) for task in begun] == [(True, False)]
    assert background.find(TEXT, "a") is None
    assert not {TEXT.name, MANY.name} & {thread.name for thread in threading.enumerate()}
    background.begin(TEXT, "a", at_once)
    assert wait_until(Works(background), "a").result == "done"


def test_what_a_page_began_by_itself_is_forgotten_and_keeps_no_result(
    background: Background,
) -> None:
    unasked = WorkKind[Progress, str]("unasked", is_unasked=True)
    begun, may_end = Event(), Event()

    def deaf(_task: Task[Progress]) -> str:
        # It does not look at whether it is cancelled, or looked just before.
        begun.set()
        assert may_end.wait(MAX_WAIT_SECONDS)
        return "too late"

    background.begin(unasked, "a", deaf)
    background.begin(TEXT, "a", until_cancelled)
    assert begun.wait(MAX_WAIT_SECONDS)
    kept = len(server_cache)
    background.forget_unasked()
    may_end.set()
    background.begin(unasked, "b", at_once)
    assert wait_until(Works(background, unasked), "b").result == "done"
    assert background.find(unasked, "a") is None
    assert background.status(TEXT, "a").is_live
    assert len(server_cache) == kept + 1


def test_a_search_for_unreachable_tokens_reports_its_progress() -> None:
    task: Task[Progress] = Task()
    tokenizer = bpe.gpt2().truncated(500)
    assert Reachability.of(tokenizer, stopper(task)).undecided == ()
    assert task.last_report is not None
    progress = task.last_report
    assert (progress.done > 0, progress.of) == (True, tokenizer.vocab_size - 1)
    task.cancel()
    with pytest.raises(CancelledError):
        Reachability.of(tokenizer, stopper(task))


# Visitors take turns, and each has a few places in the queue


def test_whoever_was_served_last_waits_behind_all_others(background: Background) -> None:
    go_on = Event()
    begun = Semaphore(0)
    done: list[str] = []

    def begin_work(name: str) -> None:
        def work(_task: Task[Progress]) -> str:
            begun.release()
            assert go_on.wait(MAX_WAIT_SECONDS)
            done.append(name)
            return name

        background.begin(MANY, name, work, visitor=name[0])

    def order() -> list[str]:
        waiting = ("a2", "a3", "b1", "b2", "c1", "d1")
        known = {name: found for name in waiting if (found := background.find(MANY, name))}
        queued = [name for name, found in known.items() if found.state == "queued"]
        return sorted(queued, key=lambda name: known[name].n_ahead)

    begin_work("a1")
    assert begun.acquire(timeout=MAX_WAIT_SECONDS)
    for name in ("a2", "a3", "b1", "c1", "b2"):
        begin_work(name)
    assert order() == ["b1", "c1", "a2", "b2", "a3"]
    begin_work("d1")
    assert order() == ["b1", "c1", "d1", "a2", "b2", "a3"]
    background.cancel(MANY, "b1")
    assert order() == ["c1", "b2", "d1", "a2", "a3"]
    go_on.set()
    wait_until(Works(background, MANY), "a3")
    assert done == ["a1", "c1", "b2", "d1", "a2", "a3"]


def test_a_visitor_has_a_few_places_and_others_have_theirs(background: Background) -> None:
    kind = WorkKind[Progress, str]("test", max_waiting=9, max_per_visitor=2)
    go_on = Event()

    def wait(_task: Task[Progress]) -> str:
        assert go_on.wait(MAX_WAIT_SECONDS)
        return "done"

    for id in ("a1", "a2"):
        background.begin(kind, id, wait, visitor="a")
    with pytest.raises(TooMuchWorkError, match="You already have 2 running or waiting"):
        background.begin(kind, "a3", wait, visitor="a")
    background.begin(kind, "b1", wait, visitor="b")
    # The visitor has a place again once one of their jobs has ended.
    background.cancel(kind, "a2")
    background.begin(kind, "a3", wait, visitor="a")
    go_on.set()
    assert wait_until(Works(background, kind), "a3").result == "done"


def test_short_work_costs_no_turn(background: Background) -> None:
    go_on = Event()

    def wait(_task: Task[Progress]) -> str:
        assert go_on.wait(MAX_WAIT_SECONDS)
        return "done"

    background.begin(MANY, "x", wait, visitor="x")
    background.begin(MANY, "short", at_once, visitor="a", is_short=True)
    wait_until(Works(background, MANY), "x", lambda status: status.state == "running")
    for name in ("a", "b"):
        background.begin(MANY, name, wait, visitor=name)
    assert [background.status(MANY, name).n_ahead for name in ("a", "b")] == [1, 2]
    go_on.set()


def test_work_is_for_the_browser_of_the_session(
    background: Background, monkeypatch: pytest.MonkeyPatch
) -> None:
    def visitor(tab: str, **cookies: str) -> str:
        context = SimpleNamespace(session_id=tab)
        monkeypatch.setattr(turns, "get_script_run_ctx", lambda **_: context)
        monkeypatch.setattr("streamlit.context", SimpleNamespace(cookies=cookies))
        return current_visitor()

    assert current_visitor() == ""
    assert visitor("1", _streamlit_xsrf="a") == visitor("2", _streamlit_xsrf="a")
    assert len({visitor("1", _streamlit_xsrf="a"), visitor("1"), visitor("2")}) == 3
    kind = WorkKind[Progress, str]("test", max_per_visitor=1)
    background.begin(kind, "a", until_cancelled)
    with pytest.raises(TooMuchWorkError, match="You already have 1"):
        background.begin(kind, "b", at_once)
