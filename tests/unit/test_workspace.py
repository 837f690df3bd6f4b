"""The state of a session: kinds of it apart from each other, and from widgets."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import streamlit as st

from ui.shell import OpenRun, workspace
from ui.shell.open_run import open_run
from ui.storage import SAMPLE_RUN_ID


@dataclass(frozen=True, slots=True)
class Page:
    text: str = ""
    n_shown: int = 1


@dataclass(frozen=True, slots=True)
class OtherPage:
    text: str = ""


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(st, "query_params", {})
    return state


def test_an_update_keeps_the_other_fields_and_the_other_kinds() -> None:
    assert workspace.get(Page) == Page()
    workspace.update(Page, text="hug")
    assert workspace.update(Page, n_shown=7) == Page("hug", 7)
    assert workspace.get(Page) == Page("hug", 7)
    assert workspace.get(OtherPage) == OtherPage()
    workspace.forget(Page, OtherPage)
    assert workspace.get(Page) == Page()


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="n_show"):
        workspace.update(Page, n_show=7)


def test_another_run_forgets_the_step() -> None:
    workspace.update(OpenRun, step=7)
    open_run(SAMPLE_RUN_ID)
    assert workspace.get(OpenRun) == OpenRun(SAMPLE_RUN_ID, 7)
    open_run("other")
    assert workspace.get(OpenRun) == OpenRun("other", None)


def test_widgets_are_forgotten_by_the_prefixes_of_their_keys(session: dict[str, object]) -> None:
    session |= {"corpus_a": 1, "settings_b_7": 2, "my_corpus_c": 3}
    workspace.update(Page, text="hug")
    workspace.forget_widgets("corpus_", "settings_")
    assert set(session) == {"my_corpus_c", workspace.state_key(Page)}
    assert workspace.get(Page).text == "hug"
