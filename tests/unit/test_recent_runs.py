"""What the browser remembers of runs, corpora and trainings: little, distinct and checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

import bpe_core as bpe
from ui.look import RunName
from ui.shell import (
    OpenRun,
    follow,
    new_own_id,
    note_given,
    open_run,
    take_given,
    workspace,
)
from ui.shell.open_run import (
    MAX_KEYS,
    MAX_RECENT_RUNS,
    GivenCorpus,
    OwnKeys,
    RecentRuns,
    forget_other_runs,
    forget_run,
    is_own,
    note_found,
    remember_run,
    start_over,
)
from ui.storage import SAMPLE_RUN_ID, StoredRun, Trained, load_run, run_store, store_run
from ui.storage.run_store import RunNotFoundError
from ui.work import Status, Training, jobs
from ui.work.jobs import StoredTraining


@pytest.fixture(autouse=True)
def session(store: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def keep(title: str) -> str:
    run = bpe.train(bpe.Corpus.from_text("hug hugs"), bpe.TrainingConfig(260))
    return store_run(Trained(title, run, bpe.Corpus.from_text("x").split(0.0)[1]))


def hand_over(session: dict[str, object], found: object) -> None:
    session["run_memory"] = {"found": found}
    open_run._list_again()


def run(n: int, not_kept: str = "") -> StoredRun:
    return replace(load_run(SAMPLE_RUN_ID), id=f"{n:032x}", not_kept=not_kept)


def listed() -> list[int]:
    return [int(name.id, 16) for name in workspace.get(RecentRuns).names]


def held() -> list[int]:
    return [int(run.id, 16) for run in workspace.get(RecentRuns).unkept]


def forgotten() -> list[int]:
    return [int(id, 16) for id in workspace.get(RecentRuns).forgotten]


def test_recent_runs_are_few_and_distinct_with_the_latest_first() -> None:
    for n in range(MAX_RECENT_RUNS + 3):
        remember_run(run(n))
    latest = [*reversed(range(3, MAX_RECENT_RUNS + 3))]
    assert listed() == latest
    remember_run(run(5))
    again = [5, *(recent for recent in latest if recent != 5)]
    assert listed() == again
    forget_run(run(5).id)
    assert listed() == again[1:]


def test_an_unsaved_run_is_held_for_as_long_as_it_is_recent() -> None:
    for n in range(3):
        remember_run(run(n, not_kept="full"))
        remember_run(run(n, not_kept="full"))  # as each run of a page's script does
    assert held() == [0, 1, 2]
    forget_run(run(1).id)
    for n in range(3, MAX_RECENT_RUNS + 2):
        remember_run(run(n))
    assert held() == [2]


def test_runs_remembered_by_the_browser_follow_those_of_this_session(
    session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {run(n).id: run(n).name for n in (1, 2, 3)}

    def find_run_name(run_id: str) -> RunName:
        if run_id not in names:
            raise RunNotFoundError(run_id)
        return names[run_id]

    monkeypatch.setattr(open_run, "find_run_name", find_run_name)
    remember_run(run(1))
    hand_over(session, {"ids": [run(n).id for n in (2, 1, 3, 4)]})
    assert listed() == [1, 2, 3]
    assert forgotten() == [4]
    for n in range(10, 10 + MAX_RECENT_RUNS):
        remember_run(run(n))
    hand_over(session, {"ids": [run(2).id]})
    assert 2 not in listed()


def test_a_run_is_forgotten_until_it_is_opened_again() -> None:
    remember_run(run(1))
    forget_run("never listed")
    assert forgotten() == []
    forget_run(run(1).id)
    assert forgotten() == [1]
    remember_run(run(1))
    assert forgotten() == []
    forget_other_runs()
    assert forgotten() == [1]


def test_few_forgotten_runs_are_remembered() -> None:
    for n in range(100):
        remember_run(run(n))
        forget_run(run(n).id)
    assert len(forgotten()) < 100
    assert forgotten()[-1] == 99


def test_unsaved_runs_survive_emptying_the_list_and_starting_over() -> None:
    unkept = run(1, not_kept="full")
    for forget in (forget_other_runs, start_over):
        remember_run(unkept)
        remember_run(run(2))
        workspace.update(OpenRun, step=7)
        forget()
        assert listed() == [1]
        assert workspace.get(RecentRuns).unkept == (unkept,)
    assert workspace.get(OpenRun).step is None


def test_stored_runs_are_listed_and_missing_ones_forgotten(
    session: dict[str, object],
) -> None:
    first, second = keep("First"), keep("Second")
    gone = "a" * 32
    hand_over(session, {"ids": [first, gone, second]})
    here = workspace.get(RecentRuns)
    assert [(run.id, run.title) for run in here.names] == [
        (first, "First"),
        (second, "Second"),
    ]
    assert here.forgotten == (gone,)
    # The open run stays open.
    assert workspace.get(OpenRun).id == SAMPLE_RUN_ID


def test_an_unsaved_run_is_held_again(
    session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    unkept = replace(load_run(SAMPLE_RUN_ID), id="b" * 32, not_kept="full")
    monkeypatch.setitem(run_store._in_memory, unkept.id, unkept)
    hand_over(session, {"ids": [unkept.id]})
    assert workspace.get(RecentRuns).unkept == (unkept,)


@pytest.mark.parametrize(
    "found",
    [
        None,
        5,
        "a" * 32,
        {},
        ["a" * 32],
        {"ids": None},
        {"ids": "a" * 32},
        {"ids": {}},
        {"ids": [5, None, [], "../../etc/passwd", "sample", "A" * 32, ""]},
        {"keys": "a" * 32},
        {"keys": [5, None, [], "../x", "A" * 32, ""]},
    ],
    ids=str,
)
def test_anything_but_a_list_of_ids_is_ignored(session: dict[str, object], found: object) -> None:
    before = workspace.get(RecentRuns), workspace.get(OwnKeys)
    hand_over(session, found)
    assert (workspace.get(RecentRuns), workspace.get(OwnKeys)) == before


def test_only_as_many_runs_are_looked_up_as_are_listed(
    session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(
        open_run,
        "find_run_name",
        lambda run_id: looked_up.append(run_id) or load_run(run_id).name,
    )
    hand_over(session, {"ids": [f"{n:032x}" for n in range(10_000)]})
    assert len(looked_up) == MAX_RECENT_RUNS


# The keys of the runs that a browser trained, from which their ids are made


def test_a_run_belongs_to_the_browser_that_has_its_key_in_later_sessions_too(
    session: dict[str, object],
) -> None:
    first, second = new_own_id(), new_own_id()
    keys = workspace.get(OwnKeys).keys
    session.clear()
    assert not is_own(first)
    hand_over(session, {"ids": [first], "keys": [first, keys[1], "0" * 32]})
    assert is_own(first)
    # To know an address is not enough.
    assert not is_own(second)
    assert not is_own(SAMPLE_RUN_ID)
    hand_over(session, {"keys": [f"{n:032x}" for n in range(100_000)]})
    assert len(workspace.get(OwnKeys).keys) == MAX_KEYS
    assert is_own(first)
    assert is_own(new_own_id())


# The corpus that the browser remembers: taken once, and only if it is named as it should be


ID = "0123456789abcdef" * 2


def test_what_the_browser_names_is_taken_until_its_page_shows_it() -> None:
    note_found({"corpus": f"paste={ID}"})
    assert take_given() == ("paste", ID)
    assert take_given() is None
    assert workspace.get(GivenCorpus).name == f"paste={ID}"
    workspace.set_widget("shows_given_corpus", False)  # as a message has it that was sent before
    assert take_given() == ("paste", ID)
    note_given("paste", ID)
    note_given("sample", None)
    workspace.set_widget("shows_given_corpus", False)
    assert take_given() is None


@pytest.mark.parametrize(
    "found", [None, [], {"corpus": 5}, {"corpus": f"file={ID}"}, {"corpus": "upload=../x"}]
)
def test_anything_else_is_nothing(found: object) -> None:
    note_found(found)
    assert take_given() is None


def test_what_a_form_holds_goes_before_what_the_browser_names() -> None:
    note_given("upload", ID)
    note_found({"corpus": f"paste={ID}"})
    assert take_given() is None
    assert workspace.get(GivenCorpus).name == f"upload={ID}"


def test_a_form_without_a_kept_corpus_says_so_only_after_it_had_one() -> None:
    note_given("sample", None)
    assert workspace.get(GivenCorpus).name is None
    note_given("upload", ID)
    note_given("sample", None)
    assert workspace.get(GivenCorpus).name == ""


# A training stays in the address of its page until its end was shown


STORED = StoredTraining("run", was_cancelled=False)


@pytest.mark.parametrize(
    ("job", "noted", "opened"),
    [
        (Status(jobs.TRAIN, "job", "queued"), ["job"], []),
        (Status(jobs.TRAIN, "job", "running"), ["job"], []),
        (Status(jobs.TRAIN, "job", "finished", result=STORED), [None], ["run"]),
        (Status(jobs.TRAIN, "job", "cancelled", result=STORED), [None], ["run"]),
        (Status(jobs.TRAIN, "job", "cancelled"), [None], []),
        (Status(jobs.TRAIN, "job", "failed", problem="too small"), ["job"], []),
        (Status(jobs.TRAIN, "job", "unknown", problem="no job"), [None], []),
        (None, [], []),
    ],
)
def test_each_status_of_a_job_is_followed(
    job: Training | None,
    noted: list[str | None],
    opened: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    all_noted: list[str | None] = []
    all_opened: list[str] = []
    monkeypatch.setattr(open_run, "note_training", all_noted.append)
    monkeypatch.setattr(open_run, "open_run", all_opened.append)
    follow(job)
    assert (all_noted, all_opened) == (noted, opened)
