"""Runs with the same title and size are listed and opened by distinct labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from streamlit.testing.v1 import AppTest

from tests.app.pages import OpenApp, in_address, picker_label
from tests.app.stored import store_hugs
from tests.app.training import train
from tests.app_pages import PAGES_OF_A_RUN
from ui.storage.run_store import SAMPLE_RUN_ID


def visit(app: AppTest, run_ids: Sequence[str]) -> None:
    for run_id in run_ids:
        app.query_params["run"] = run_id
        app.run()


def test_train_is_pressed_on_the_untouched_first_page_twice(open_app: OpenApp) -> None:
    app = open_app()
    runs = [in_address(train(app), "run") for _ in range(2)]
    assert len(set(runs)) == 2
    labels = app.menu_button[0].options
    assert len(set(labels)) == 3
    # The sample's label is distinct without a time.
    assert [": " not in label and "trained at " in label for label in labels[1:]] == [True, True]
    assert picker_label(app) == f"Run: {labels[1]}"
    for run_id, page in zip(cycle(runs), PAGES_OF_A_RUN, strict=False):
        again = open_app(page, run=run_id)
        assert not again.error, page


# Labels of any titles differ: tests/unit/test_labels.py.
def test_any_two_runs_of_one_name_are_listed_and_opened_by_their_labels(open_app: OpenApp) -> None:
    title = "<b>[a](b) :red[a]\u202egnp.exe\n:material/home:"
    app = open_app("merge_loop")
    runs = [store_hugs(title), store_hugs(title), store_hugs(title, tie_break="first-seen")]
    visit(app, runs)
    labels = app.menu_button[0].options
    assert len(set(labels)) == len(labels) == 4
    for run_id in (*runs, SAMPLE_RUN_ID):
        app.menu_button[0].click(run_id)
        app.run()
        assert app.query_params.get("run", [SAMPLE_RUN_ID]) in ([run_id], run_id)


def test_compare_offers_each_run_of_one_name_and_adds_the_chosen_one(
    open_app: OpenApp,
) -> None:
    app = open_app("compare")
    runs = [store_hugs("Hugs"), store_hugs("Hugs", tie_break="first-seen")]
    visit(app, runs)
    app.menu_button[0].click(SAMPLE_RUN_ID)
    app.run()
    assert len(set(app.menu_button(key="add_run").options)) == 2
    for run_id in runs:
        app.menu_button(key="add_run").click(run_id)
        app.run()
    assert in_address(app, "with") == ",".join(["gpt2", *(f"run-{run_id}" for run_id in runs)])
