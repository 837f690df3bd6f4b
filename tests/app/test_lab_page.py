"""The Lab without a browser: a measurement from the button to the figures, and bad addresses."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.waiting import wait_until
from ui.lab import measurements

SHORT = "Hugs or whatever. "


def wait_for_report(app: AppTest, name: str) -> None:
    value = app.query_params[name]
    wait_until(measurements.manager(), value if isinstance(value, str) else value[0])
    app.run()


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()


def test_a_text_of_one_s_own_is_measured_by_every_encoder_and_trainer(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("lab", lab_text="Your text", text=SHORT)
    assert not app.exception
    said = [markdown.value for markdown in app.markdown]
    assert any("Longest match cuts 1 of 5 pre-tokens otherwise" in text for text in said)
    press(app, "Measure encoders")
    wait_for_report(app, "encoding")
    press(app, "Measure trainers")
    wait_for_report(app, "training")
    assert not app.exception
    assert not app.error
    tables = [part.proto.json for part in app.get("bidi_component")]
    table = next(json for json in tables if "Trie with backtracking" in json)
    assert table.count('"equal"') == 7
    assert table.count('"differ"') == 1
    assert any("All learned the same merges" in json for json in tables)


def test_measurements_that_are_not_known_are_said_once(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lab", encoding="<b>" * 5, training="x" * 200)
    assert not app.exception
    assert len(app.warning) == 1
    assert "not known any more" in app.warning[0].value
    assert "encoding" not in app.query_params
    assert "training" not in app.query_params


def test_an_empty_text_leaves_nothing_to_measure(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lab", lab_text="Your text", text="")
    assert not app.exception
    assert all(button.disabled for button in app.button if button.label.startswith("Measure"))
