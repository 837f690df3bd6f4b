"""Compare adds another run by its address, and reports any other text next to the field."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import OpenApp, errors, in_address, press
from tests.app.stored import store_hugs
from tests.app.test_compare_shelf import others


def test_a_run_is_added_by_its_address_or_its_id(open_app: OpenApp) -> None:
    run_id = store_hugs("Theirs")
    app = add_run(open_app("compare"), f"https://example.org/train?run={run_id}&with=none")
    assert not app.error
    assert others(app) == ["GPT-2", "Theirs"]
    assert in_address(app, "with") == f"gpt2,run-{run_id}"
    # The same run is still open.
    assert "run" not in app.query_params


def add_run(app: AppTest, address: str) -> AppTest:
    app.text_input(key="add_address_text").set_value(address)
    return press(app, "Add run")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<b>hug</b>", "Expected the address of a run, got “<b>hug</b>”"),
        ("?run=../../etc/passwd", "The run id in this address is malformed"),
    ],
)
def test_a_text_that_names_no_run_is_reported_and_changes_nothing(
    open_app: OpenApp, text: str, said: str
) -> None:
    app = add_run(open_app("compare"), text)
    assert said in errors(app)
    assert others(app) == ["GPT-2"]
    if "<b>" in text:
        assert "<b>" not in app.error[0].value


def test_a_run_that_is_already_compared_is_not_added_again(open_app: OpenApp) -> None:
    mine, theirs = store_hugs("Mine"), store_hugs("Theirs")
    app = add_run(open_app("compare", run=mine), mine)
    assert "the open run" in errors(app)
    add_run(app, theirs)
    assert not app.error
    add_run(app, theirs)
    assert "already on the shelf" in errors(app)
    add_run(app, "?run=sample")
    assert others(app) == ["GPT-2", "Theirs", "Python’s language reference"]
