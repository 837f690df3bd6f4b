"""Background work is shared by id and reports how it goes; visitors take turns."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from threading import Event, Semaphore
from types import SimpleNamespace

import pytest

import bpe_core as bpe
from bpe_core.vocabulary import find_unreachable
from tests.waiting import wait_until
from ui.host import server_cache
from ui.work import Background, Progress, Task, TooMuchWorkError, UnknownWorkError, stopper
from ui.work import background as turns
from ui.work.background import current_visitor
from ui.work.work_part import seconds_left

TextWork = Background[Progress, str]


@pytest.fixture
def background() -> Iterator[TextWork]:
    background = TextWork("test", max_waiting=2, max_cached=4)
    yield background
    background.close()


def until_cancelled(task: Task[Progress]) -> str | None:
    should_stop = stopper(task)
    while not should_stop(1, 4):
        time.sleep(0.01)
    return None


def at_once(_task: Task[Progress]) -> str:
    return "done"


def test_work_with_the_same_id_is_done_once(background: TextWork) -> None:
    times: list[int] = []

    def work(_task: Task[Progress]) -> str:
        times.append(1)
        return "done"

    for _ in range(3):
        background.begin("a", work)
    assert wait_until(background, "a").result == "done"
    background.begin("a", work)
    assert times == [1]


def test_short_work_is_done_on_return_even_if_other_work_is_queued(background: TextWork) -> None:
    background.begin("long", until_cancelled)
    status = background.begin("short", at_once, is_short=True, about="hugs")
    assert (status.state, status.result, status.about) == ("finished", "done", "hugs")
    assert background.find("short") is not None


def test_work_reports_progress_and_can_be_cancelled(background: TextWork) -> None:
    background.begin("a", until_cancelled)
    status = wait_until(background, "a", lambda status: status.progress is not None)
    assert (status.progress, status.share) == (Progress(1, 4), 0.25)
    assert seconds_left(status) == pytest.approx(status.elapsed_seconds * 3)
    background.cancel("a")
    status = wait_until(background, "a")
    assert (status.state, status.result, status.problem) == ("cancelled", None, None)
    # Starting it again has no effect until the cancelled work is forgotten.
    background.begin("a", at_once)
    assert background.status("a").state == "cancelled"
    background.forget("a")
    background.begin("a", at_once)
    assert wait_until(background, "a").result == "done"


def test_a_status_has_the_age_of_its_last_report() -> None:
    now = [10.0]
    background = TextWork("test", max_waiting=2, max_cached=4, clock=lambda: now[0])
    background.begin("a", until_cancelled)
    status = wait_until(background, "a", lambda status: status.progress is not None)
    assert status.seconds_since_report == 0
    now[0] = 13.0
    assert background.status("a").seconds_since_report == 3
    background.close()


def test_queued_work_that_is_cancelled_never_starts(background: TextWork) -> None:
    background.begin("a", until_cancelled)
    background.begin("b", at_once)
    assert background.status("b").n_ahead == 1
    background.cancel("b")
    assert background.status("b").state == "cancelled"
    background.forget("a")
    background.begin("c", at_once)
    assert wait_until(background, "c").result == "done"
    assert background.status("b").result is None


def test_the_queue_is_bounded_and_the_oldest_finished_work_is_forgotten(
    background: TextWork,
) -> None:
    background.begin("a", until_cancelled)
    wait_until(background, "a", lambda status: status.state == "running")
    background.begin("b", at_once)
    background.begin("c", at_once)
    with pytest.raises(TooMuchWorkError, match="2 others are already waiting"):
        background.begin("d", at_once)
    with pytest.raises(UnknownWorkError, match="Begin again"):
        background.status("d")
    assert background.find("d") is None
    background.cancel("a")
    wait_until(background, "c")
    for id in "efg":
        background.begin(id, at_once, is_short=True)
    with pytest.raises(UnknownWorkError):
        background.status("a")
    assert background.status("g").result == "done"


def test_work_whose_result_the_cache_dropped_can_be_begun_again(background: TextWork) -> None:
    background.begin("a", at_once, is_short=True)
    background.begin("live", until_cancelled)
    server_cache.forget()
    assert background.status("live").is_live
    with pytest.raises(UnknownWorkError):
        background.status("a")
    background.begin("a", lambda _task: "done again", is_short=True)
    assert background.status("a").result == "done again"
    background.cancel("live")


def test_an_expected_error_is_shown_and_an_unexpected_one_is_logged_without_its_message(
    background: TextWork, caplog: pytest.LogCaptureFixture
) -> None:
    def foreseen(_task: Task[Progress]) -> str:
        raise bpe.ConfigError("too small")

    typed = "".join(["sec", "ret"])

    def unforeseen(_task: Task[Progress]) -> str:
        raise ValueError(typed)

    background.begin("a", foreseen, is_short=True)
    assert background.status("a").problem == "too small"
    with caplog.at_level(logging.ERROR):
        background.begin("b", unforeseen, is_short=True)
    status = background.status("b")
    assert (status.state, status.result) == ("failed", None)
    assert status.problem == "It stopped because of an error in the app (ValueError)."
    assert "unforeseen" in caplog.text
    assert typed not in caplog.text


def test_a_panic_is_reported_and_queued_work_goes_on(background: TextWork) -> None:
    class PanicError(BaseException):
        """A stand-in for PyO3's panic, which doesn't inherit from Exception either."""

    def panics(_task: Task[Progress]) -> str:
        raise PanicError

    background.begin("a", panics)
    background.begin("b", at_once)
    assert wait_until(background, "b").state == "finished"
    assert (background.status("a").state, background.status("a").problem) == (
        "failed",
        "It stopped because of an error in the app (PanicError).",
    )


@pytest.mark.parametrize("ends_program", [KeyboardInterrupt, SystemExit])
def test_a_system_exit_ends_the_callers_thread_but_not_the_worker(
    background: TextWork, ends_program: type[BaseException]
) -> None:
    def ends(_task: Task[Progress]) -> str:
        raise ends_program

    with pytest.raises(ends_program):
        background.begin("a", ends, is_short=True)
    with pytest.raises(UnknownWorkError):
        background.status("a")
    background.begin("a", at_once, is_short=True)
    assert background.status("a").result == "done"
    # An error that ended the worker thread would leave queued work waiting for ever.
    background.begin("b", ends)
    background.begin("c", at_once)
    assert wait_until(background, "c").result == "done"
    assert background.status("b").state == "failed"


def test_closing_cancels_running_and_queued_work() -> None:
    background = TextWork("test", max_waiting=2, max_cached=4)
    background.begin("a", until_cancelled)
    background.begin("b", at_once)
    background.close()
    assert [wait_until(background, id).state for id in "ab"] == ["cancelled", "cancelled"]


def test_a_search_for_unreachable_tokens_reports_its_progress() -> None:
    task: Task[Progress] = Task()
    tokenizer = bpe.gpt2().truncated(500)
    assert find_unreachable(tokenizer, stopper(task)).undecided == ()
    assert task.last_report is not None
    progress, _ = task.last_report
    assert (progress.done > 0, progress.of) == (True, tokenizer.vocab_size - 1)
    task.cancel()
    with pytest.raises(CancelledError):
        find_unreachable(tokenizer, stopper(task))


# Visitors take turns, and each has a few places in the queue


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


def test_short_work_costs_no_turn() -> None:
    background = TextWork("test", max_waiting=9, max_cached=9)
    go_on = Event()

    def wait(_task: Task[Progress]) -> str:
        assert go_on.wait(60)
        return "done"

    background.begin("x", wait, visitor="x")
    background.begin("short", at_once, visitor="a", is_short=True)
    wait_until(background, "x", lambda status: status.state == "running")
    for name in ("a", "b"):
        background.begin(name, wait, visitor=name)
    assert [background.status(name).n_ahead for name in ("a", "b")] == [1, 2]
    go_on.set()
    background.close()


def test_work_is_for_the_browser_of_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    def visitor(tab: str, **cookies: str) -> str:
        context = SimpleNamespace(session_id=tab)
        monkeypatch.setattr(turns, "get_script_run_ctx", lambda **_: context)
        monkeypatch.setattr("streamlit.context", SimpleNamespace(cookies=cookies))
        return current_visitor()

    assert current_visitor() == ""
    assert visitor("1", _streamlit_xsrf="a") == visitor("2", _streamlit_xsrf="a")
    assert len({visitor("1", _streamlit_xsrf="a"), visitor("1"), visitor("2")}) == 3
    background = TextWork("test", max_waiting=9, max_cached=9, max_per_visitor=1)
    background.begin("a", until_cancelled)
    with pytest.raises(TooMuchWorkError, match="You already have 1"):
        background.begin("b", at_once)
    background.close()
