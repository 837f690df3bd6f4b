"""Run ids sent by the browser, valid or not, are looked up before their runs are listed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from ui.shell import kept_runs, workspace
from ui.storage import run_store
from ui.storage.run_store import SAMPLE_RUN_ID, load_run, store_run


@pytest.fixture(autouse=True)
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path / "runs"))
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def store(title: str) -> str:
    run = train(Corpus.from_text("hug hugs"), TrainingConfig(260))
    return store_run(title, run, Corpus.from_text("x").split(0.0)[1])


def hand_over(session: dict[str, object], found: object) -> None:
    session["run_memory"] = {"found": found}
    kept_runs._list_again()


def test_stored_runs_are_listed_and_missing_ones_forgotten(
    session: dict[str, object],
) -> None:
    first, second = store("First"), store("Second")
    gone = "a" * 32
    hand_over(session, {"ids": [first, gone, second]})
    here = workspace.current()
    assert [(run.id, run.title) for run in here.recent_runs] == [
        *((first, "First"), (second, "Second")),
    ]
    assert here.forgotten_runs == (gone,)
    # The open run stays open.
    assert here.run_id == SAMPLE_RUN_ID


def test_an_unsaved_run_is_held_again(
    session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    unkept = replace(load_run(SAMPLE_RUN_ID), id="b" * 32, not_kept="full")
    monkeypatch.setitem(run_store._in_memory, unkept.id, unkept)
    hand_over(session, {"ids": [unkept.id]})
    assert workspace.current().unkept_runs == (unkept,)


@pytest.mark.parametrize(
    "found",
    [
        *(None, 5, "a" * 32, {}, ["a" * 32], {"ids": None}, {"ids": "a" * 32}, {"ids": {}}),
        {"ids": [5, None, [], "../../etc/passwd", "sample", "A" * 32, ""]},
    ],
    ids=str,
)
def test_anything_but_a_list_of_ids_is_ignored(session: dict[str, object], found: object) -> None:
    before = workspace.current()
    hand_over(session, found)
    assert workspace.current() == before


def test_only_as_many_runs_are_looked_up_as_are_listed(
    session: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(
        kept_runs, "name_of_run", lambda run_id: looked_up.append(run_id) or load_run(run_id).name
    )
    hand_over(session, {"ids": [f"{n:032x}" for n in range(10_000)]})
    assert len(looked_up) == workspace.MOST_RECENT_RUNS
