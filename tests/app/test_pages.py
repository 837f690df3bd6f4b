"""Each page opens on the sample run, and with whatever the address holds for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import picker_label
from tests.app.stored import store_hugs
from tests.app_pages import PAGES, START
from ui.shell.recent_runs import MAX_RECENT_RUNS
from ui.storage import run_store


@pytest.mark.parametrize(("page", "title"), [("start", START), *PAGES.items()])
def test_a_page_opens_on_the_sample_run(
    open_app: Callable[..., AppTest], page: str, title: str
) -> None:
    app = open_app(page)
    assert [each.value for each in app.title] == [title]
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize(("page", "is_of_page"), [("merge_loop", True), ("train", False)])
def test_the_address_keeps_a_step_only_on_pages_with_steps(
    open_app: Callable[..., AppTest], page: str, is_of_page: bool
) -> None:
    app = open_app(page, step="7")
    assert ("step" in app.query_params) is is_of_page


@pytest.mark.parametrize("run_id", ["a" * 32, "../\0<b>" + "x" * 3_000])
def test_an_unknown_run_is_reported(open_app: Callable[..., AppTest], run_id: str) -> None:
    app = open_app("train", run=run_id)
    assert "The sample run is shown instead" in app.error[0].value
    # The error stays after a rerun, as long as the address names no run.
    app.run()
    assert "The sample run is shown instead" in app.error[0].value


def test_an_unknown_run_leaves_the_open_one_open(open_app: Callable[..., AppTest]) -> None:
    app = open_app("merge_loop")
    app.query_params["run"] = store_hugs()
    app.run()
    app.query_params["run"] = "a" * 32
    app.run()
    assert "The run that was open is shown instead" in app.error[0].value
    assert picker_label(app).startswith("Run: Hugs")
    del app.query_params["run"]
    app.run()
    assert not app.error
    assert picker_label(app).startswith("Run: Hugs")


def test_the_picker_names_runs_without_reading_them(
    open_app: Callable[..., AppTest], tmp_path: Path
) -> None:
    app = open_app("merge_loop")
    ids = []
    for n in range(MAX_RECENT_RUNS + 1):
        ids.append(store_hugs(f"Hugs {n}", 257 + n % 3))
        app.query_params["run"] = ids[-1]
        app.run()
    run_store._loaded.clear()
    for run_id in ids[:-1]:
        (tmp_path / "runs" / run_id / "run.npz").unlink()
    app.run()
    names = list(app.menu_button[0].options)
    assert len(names) == 1 + MAX_RECENT_RUNS
    assert any(name.startswith(f"Hugs {MAX_RECENT_RUNS} ") for name in names)
    assert not any(name.startswith("Hugs 0 ") for name in names)


CHOICES = [
    ("lessons", "lesson", "Hug words", "Four documents"),
    ("lessons", "step_of_1", "Words", "Pairs"),
    ("vocabulary", "vocabulary_of", "Your tokenizer", "GPT-2"),
    ("vocabulary", "seen_as", "Table", "Trie"),
    ("token_boundaries", "tokenizer", "Your tokenizer", "GPT-2"),
    ("lab", "lab_tokenizer", "Your tokenizer", "GPT-2"),
    ("compare", "measure", "Parity", "Tokens per word"),
    ("compare", "part", "Verdict", "Figures"),
    ("compare", "on", "Held-out text", "Your own text"),
]


@pytest.mark.parametrize(("page", "key", "first", "other"), CHOICES)
def test_an_unknown_option_counts_as_the_first(
    open_app: Callable[..., AppTest], page: str, key: str, first: str, other: str
) -> None:
    app = open_app(page, **{key: "<b>nothing of ours\u202e"})
    assert app.segmented_control(key=key).value == first
    assert not app.query_params.get(key)
    app.segmented_control(key=key).set_value(other).run()
    assert app.segmented_control(key=key).value == other


@pytest.mark.parametrize(
    ("page", "key"),
    [
        ("lessons", "marker"),
        ("lab", "lab_text"),
        ("vocabulary", "uses_on"),
        ("vocabulary", "min_uses"),
        ("token_boundaries", "special"),
    ],
)
def test_other_fields_bound_to_the_address_accept_any_value(
    open_app: Callable[..., AppTest], page: str, key: str
) -> None:
    app = open_app(page, **{key: "nothing of ours"})
    assert not app.error
