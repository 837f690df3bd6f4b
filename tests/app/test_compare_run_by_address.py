"""Compare adds another run by its address, and reports any other text next to the field."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import OpenApp
from tests.app.stored import store_hugs
from tests.app.test_compare_shelf import others
from tests.app.training import in_address


def paste(app: AppTest, text: str) -> AppTest:
    """Paste a text as the address of a run, and press the button next to it."""
    app.text_input(key="add_address_text").set_value(text)
    next(button for button in app.button if button.label == "Add run").click()
    return app.run()


def told(app: AppTest) -> str:
    return "\n".join(error.value for error in app.error).replace("\\", "")


def test_a_run_is_added_by_its_address_or_its_id(open_app: OpenApp) -> None:
    run_id = store_hugs("Theirs")
    app = paste(open_app("compare"), f"https://example.org/train?run={run_id}&with=none")
    assert not app.error
    assert others(app) == ["GPT-2", "Theirs"]
    assert in_address(app, "with") == f"gpt2,run-{run_id}"
    # The same run is still open.
    assert "run" not in app.query_params


def test_the_sample_can_be_added_to_another_run(open_app: OpenApp) -> None:
    app = paste(open_app("compare", run=store_hugs("Mine")), "?run=sample")
    assert others(app) == ["GPT-2", "Python’s language reference"]


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
    app = paste(open_app("compare"), text)
    assert said in told(app)
    assert others(app) == ["GPT-2"]
    if "<b>" in text:
        assert "<b>" not in app.error[0].value


def test_a_run_that_is_already_compared_is_not_added_again(open_app: OpenApp) -> None:
    mine, theirs = store_hugs("Mine"), store_hugs("Theirs")
    app = paste(open_app("compare", run=mine), mine)
    assert "the open run" in told(app)
    paste(app, theirs)
    assert not app.error
    paste(app, theirs)
    assert "already on the shelf" in told(app)
    assert others(app) == ["GPT-2", "Theirs"]
