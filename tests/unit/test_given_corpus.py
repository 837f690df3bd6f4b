"""The corpus that the browser remembers: taken once, and only if it is named as it should be."""

from __future__ import annotations

import pytest
import streamlit as st

from ui.shell import workspace
from ui.shell.recent_runs import GivenCorpus, note_found, note_given, take_given

ID = "0123456789abcdef" * 2


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def test_what_the_browser_names_is_taken_once() -> None:
    note_found({"corpus": f"paste={ID}"})
    assert take_given() == ("paste", ID)
    assert take_given() is None
    assert workspace.get(GivenCorpus).name == f"paste={ID}"


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
