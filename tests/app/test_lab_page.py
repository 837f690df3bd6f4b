"""Test the Lab without a browser: a measurement from button to figures, and bad addresses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from tests.waiting import wait_until
from ui.lab import measurements
from ui.shell.workspace import Workspace

SHORT = "Hugs or whatever. "


def wait_for_report(app: AppTest, name: str) -> None:
    value = app.query_params[name]
    wait_until(measurements.manager(), value if isinstance(value, str) else value[0])
    app.run()


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()


def test_an_own_text_is_measured_with_every_encoder_and_trainer(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("lab", lab_text="Your text", text=SHORT)
    assert not app.exception
    texts = [markdown.value for markdown in app.markdown]
    assert any("Longest match cuts 1 of 5 pre-tokens (20.0%) differently" in t for t in texts)
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


def measured(app: AppTest) -> AppTest:
    for name in ("encoding", "training"):
        press(app, f"Measure {'encoders' if name == 'encoding' else 'trainers'}")
        wait_for_report(app, name)
    assert not app.exception
    return app


def notices(app: AppTest) -> list[str]:
    """Return what the figures shown belong to, if not to the present choice."""
    return [info.value.replace("\\", "").partition(", not of")[0] for info in app.info]


def test_figures_of_another_tokenizer_are_labelled(open_app: Callable[..., AppTest]) -> None:
    app = measured(open_app("lab", lab_text="Your text", text=SHORT))
    assert notices(app) == []
    app.segmented_control(key="lab_tokenizer").set_value("GPT-2").run()
    # The measurement of trainers does not depend on the tokenizer.
    assert notices(app) == [
        "These figures are of **Your tokenizer of 4,096 tokens on your text, 18 bytes**"
    ]
    app.segmented_control(key="lab_tokenizer").set_value("Your tokenizer").run()
    assert notices(app) == []


def test_figures_of_another_text_are_labelled(open_app: Callable[..., AppTest]) -> None:
    app = measured(open_app("lab", lab_text="Your text", text=SHORT))
    parts = [
        "These figures are of **Your tokenizer of 4,096 tokens on your text, 18 bytes**",
        "These figures are of **Training on your text, 18 bytes**",
    ]
    # Another text of the same length.
    app.session_state["workspace"] = replace(workspace_of(app), text=SHORT[::-1])
    app.run()
    assert notices(app) == parts
    app.selectbox(key="lab_text").set_value("Python’s language reference").run()
    assert notices(app) == parts
    app.session_state["workspace"] = replace(workspace_of(app), text=SHORT)
    app.selectbox(key="lab_text").set_value("Your text").run()
    assert notices(app) == []


def workspace_of(app: AppTest) -> Workspace:
    here = app.session_state["workspace"]
    assert isinstance(here, Workspace)
    return here


def test_unknown_measurements_in_the_address_are_reported_once(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("lab", encoding="<b>" * 5, training="x" * 200)
    assert not app.exception
    assert len(app.warning) == 1
    assert "not known any more" in app.warning[0].value
    assert "encoding" not in app.query_params
    assert "training" not in app.query_params


def test_an_empty_text_cannot_be_measured(open_app: Callable[..., AppTest]) -> None:
    app = open_app("lab", lab_text="Your text", text="")
    assert not app.exception
    assert all(button.disabled for button in app.button if button.label.startswith("Measure"))
