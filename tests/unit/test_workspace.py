"""The workspace of a session: its fields, what another run resets, and its limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
import streamlit as st

from bpe_core.types import TrainingConfig
from ui.look.run_names import RunName
from ui.shell import workspace
from ui.shell.workspace import MOST_RECENT_RUNS
from ui.storage.run_store import SAMPLE_RUN_ID, load_run


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def run(n: int) -> RunName:
    return RunName(f"run {n}", f"Title {n}", 300 + n, TrainingConfig())


def test_a_new_session_shows_the_sample_at_no_step_yet() -> None:
    new = workspace.current()
    assert new.run_id == SAMPLE_RUN_ID
    assert new.step is None
    assert new.recent_runs == ()


def test_an_update_keeps_all_other_fields() -> None:
    workspace.update(text="hug", step=7)
    workspace.update(job_id="job")
    assert (workspace.current().text, workspace.current().step) == ("hug", 7)
    assert workspace.update(job_id=None) == workspace.current()
    assert workspace.current().job_id is None


def test_opening_another_run_resets_the_step_and_reopening_the_same_run_keeps_it() -> None:
    workspace.update(step=7)
    assert workspace.update(run_id=SAMPLE_RUN_ID).step == 7
    assert workspace.update(run_id="other").step is None
    workspace.update(step=3)
    assert workspace.update(run_id="other").step == 3
    assert workspace.update(run_id=SAMPLE_RUN_ID).step is None
    assert workspace.update(run_id="other", step=9).step == 9


def test_recent_runs_are_few_and_distinct_with_the_latest_first() -> None:
    for n in range(MOST_RECENT_RUNS + 3):
        workspace.remember_run(run(n))
    latest = [run(n) for n in reversed(range(3, MOST_RECENT_RUNS + 3))]
    assert list(workspace.current().recent_runs) == latest
    workspace.remember_run(run(5))
    again = [run(5), *(recent for recent in latest if recent != run(5))]
    assert list(workspace.current().recent_runs) == again
    workspace.forget_run("run 5")
    assert list(workspace.current().recent_runs) == again[1:]


def test_an_unsaved_run_is_held_for_as_long_as_it_is_recent() -> None:
    sample = load_run(SAMPLE_RUN_ID)
    for n in range(3):
        unkept = replace(sample, id=run(n).id, not_kept="full")
        workspace.remember_run(run(n), unkept=unkept)
        workspace.remember_run(run(n), unkept=unkept)  # as each run of a page's script does
    held = [held.id for held in workspace.current().unkept_runs]
    assert held == ["run 0", "run 1", "run 2"]
    workspace.forget_run("run 1")
    for n in range(3, MOST_RECENT_RUNS + 2):
        workspace.remember_run(run(n))
    assert [held.id for held in workspace.current().unkept_runs] == ["run 2"]


def test_runs_remembered_by_the_browser_follow_those_of_this_session() -> None:
    workspace.remember_run(run(1))
    workspace.list_again([run(2), run(1), run(3)], unkept=[], gone=["run 4"])
    assert [each.id for each in workspace.current().recent_runs] == ["run 1", "run 2", "run 3"]
    assert workspace.current().forgotten_runs == ("run 4",)
    for n in range(10, 10 + MOST_RECENT_RUNS):
        workspace.remember_run(run(n))
    workspace.list_again([run(2)], unkept=[], gone=[])
    assert run(2) not in workspace.current().recent_runs


def test_a_run_is_forgotten_until_it_is_opened_again() -> None:
    workspace.remember_run(run(1))
    workspace.forget_run("never listed")
    assert workspace.current().forgotten_runs == ()
    workspace.forget_run("run 1")
    assert workspace.current().forgotten_runs == ("run 1",)
    workspace.remember_run(run(1))
    assert workspace.current().forgotten_runs == ()
    workspace.forget_other_runs()
    assert workspace.current().forgotten_runs == ("run 1",)


def test_few_forgotten_runs_are_remembered() -> None:
    for n in range(100):
        workspace.list_again([], unkept=[], gone=[f"run {n}"])
    assert len(workspace.current().forgotten_runs) < 100
    assert workspace.current().forgotten_runs[-1] == "run 99"


def test_unsaved_runs_survive_emptying_the_list_and_starting_over() -> None:
    unkept = replace(load_run(SAMPLE_RUN_ID), id="run 1", not_kept="full")
    for forget in (workspace.forget_other_runs, workspace.start_over):
        workspace.remember_run(unkept.name, unkept=unkept)
        workspace.remember_run(run(2))
        workspace.update(text="hug")
        forget()
        assert [each.id for each in workspace.current().recent_runs] == ["run 1"]
        assert workspace.current().unkept_runs == (unkept,)
    assert workspace.current().text is None


def test_widgets_are_forgotten_by_the_prefixes_of_their_keys(session: dict[str, object]) -> None:
    session |= {"corpus_a": 1, "settings_b_7": 2, "my_corpus_c": 3}
    workspace.update(text="hug")
    workspace.forget_widgets("corpus_", "settings_")
    assert set(session) == {"my_corpus_c", "workspace"}
    assert workspace.current().text == "hug"
