"""Test the Lab without a browser: a measurement from button to figures, and bad addresses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import VARIABLE
from bpe_core.lab import LabOrder
from bpe_core.tokenizer import gpt2
from tests.app.pages import in_address, press
from tests.app.stored import store
from tests.app.training import draw_after
from tests.oracles import TOKENIZERS
from tests.waiting import OfKind, wait_until
from ui.corpus.own_texts import OwnText, OwnTexts
from ui.lab import MeasurementStatus, sections
from ui.lab.sections import MEASURE, begin_measurement
from ui.shell.workspace import state_key
from ui.storage import SAMPLE_RUN_ID, load_run
from ui.work import TooMuchWorkError

MEASUREMENTS = OfKind(MEASURE)
SHORT = "Hugs or whatever. "


def wait_for_report(app: AppTest, name: str) -> None:
    draw_after(app, MEASUREMENTS, in_address(app, name))


def test_a_tokenizer_that_merges_across_words_is_not_measured_but_trainers_are(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(TOKENIZERS))
    app = open_app("lab", lab_text="Your text", text=SHORT, **{"with": "mistral-7b"})
    app.segmented_control(key="lab_tokenizer").set_value("Mistral 7B").run()
    assert any("writes spaces as ▁ before it merges" in info.value for info in app.info)
    assert_only_trainers_are_measured(app)


def test_a_tokenizer_that_takes_tokens_out_again_is_not_measured(
    open_app: Callable[..., AppTest],
) -> None:
    run = bpe.train(["the and then and there and hand band land sand "], vocab_size=280, picky=0.6)
    assert run.tokenizer.table.removals
    app = open_app("lab", lab_text="Your text", text=SHORT, run=store(run))
    assert any("takes tokens out again while it encodes" in info.value for info in app.info)
    assert_only_trainers_are_measured(app)


def assert_only_trainers_are_measured(app: AppTest) -> None:
    labels = [button.label for button in app.button]
    assert "Measure trainers" in labels
    assert "Measure encoders" not in labels


def test_an_own_text_is_measured_and_its_figures_are_labelled_for_another_choice(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("lab", lab_text="Your text", text=SHORT)
    texts = [markdown.value for markdown in app.markdown]
    assert any("Longest match cuts 1 of 5 pre-tokens (20.0%) differently" in t for t in texts)
    for name, what in (("encoding", "encoders"), ("training", "trainers")):
        press(app, f"Measure {what}")
        wait_for_report(app, name)
    assert not app.error
    tables = [part.proto.json for part in app.get("bidi_component")]
    table = next(json for json in tables if "Trie with backtracking" in json)
    assert table.count('"equal"') == 7
    assert table.count('"differ"') == 1
    assert any("All learned the same merges" in json for json in tables)
    assert notices(app) == []
    own = "These figures are for **The example of 4,096 tokens on your text, 18 bytes**"
    training = "These figures are for **Training on your text, 18 bytes**"
    app.segmented_control(key="lab_tokenizer").set_value("GPT-2").run()
    # The measurement of trainers does not depend on the tokenizer.
    assert notices(app) == [own]
    app.segmented_control(key="lab_tokenizer").set_value("The example").run()
    assert notices(app) == []
    # Another text of the same length.
    app.session_state[state_key(OwnTexts)] = OwnTexts({"text": OwnText(SHORT[::-1])})
    app.run()
    assert notices(app) == [own, training]
    app.selectbox(key="lab_text").set_value("Python’s built-in help").run()
    assert notices(app) == [own, training]
    app.session_state[state_key(OwnTexts)] = OwnTexts({"text": OwnText(SHORT)})
    app.selectbox(key="lab_text").set_value("Your text").run()
    assert notices(app) == []


def speeds(app: AppTest) -> list[list[Any]]:
    """Return the rows of the table of encoders; empty if there is none."""
    parts = [json.loads(part.proto.json or "{}") for part in app.get("bidi_component")]
    return next((p["rows"] for p in parts if p.get("caption", "").startswith("Encoders")), [])


def n_marked_small(app: AppTest) -> int:
    return sum("Small measurement" in markdown.value for markdown in app.markdown)


def test_a_first_visit_shows_a_small_measurement_with_its_progress(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("lab")
    # The page is drawn while the measurement runs.
    (encoding, training) = (bar.proto.text for bar in app.get("progress"))
    assert encoding.startswith(("Starting", "Compiling", "Step"))
    assert training.startswith("Waiting: 1 measurement")
    assert speeds(app) == []
    labels = {b.label: b.disabled for b in app.button}
    assert labels["Measure encoders"] is labels["Measure trainers"] is False
    assert "Cancel" not in [button.label for button in app.button]
    text = "\n".join(load_sample("python-help").documents)
    order = LabOrder.small(text, load_run(SAMPLE_RUN_ID).run.tokenizer)
    wait_until(MEASUREMENTS, order.fingerprint)
    draw_after(app, MEASUREMENTS, LabOrder.small(text).fingerprint)
    assert len(speeds(app)) == 8
    assert n_marked_small(app) == 2
    assert not {"encoding", "training"} & set(app.query_params)


def refuse(_order: LabOrder, *, about: str) -> MeasurementStatus:
    raise AssertionError(about)


def is_full(_order: LabOrder, *, about: str) -> MeasurementStatus:
    raise TooMuchWorkError(about)


def test_nothing_is_measured_before_a_press_on_an_own_text_or_while_the_queue_is_full(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"lab_text": "Your text", "text": SHORT}
    for shared, query in ((refuse, own), (is_full, {})):
        monkeypatch.setattr(sections, "shared_measurement", shared)
        app = open_app("lab", **query)
        assert not app.error
        assert any("Eight encoders are run on this text" in one.value for one in app.markdown)
    empty = open_app("lab", lab_text="Your text", text="")
    assert all(each.disabled for each in empty.button if each.label.startswith("Measure"))


def test_a_measurement_in_the_address_takes_the_place_of_the_small_one(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "shared_measurement", refuse)
    own = begin_measurement(LabOrder("encoding", SHORT, gpt2().truncated(9)), about="x")
    training = begin_measurement(LabOrder("training", SHORT), about="x")
    wait_until(MEASUREMENTS, training)
    app = open_app("lab", encoding=own, training=training)
    assert len(speeds(app)) == 8
    assert n_marked_small(app) == 0


def notices(app: AppTest) -> list[str]:
    """Return the start of each notice that the figures shown are for another choice."""
    return [info.value.replace("\\", "").partition(", not for")[0] for info in app.info]


def test_unknown_measurements_in_the_address_are_reported_once(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("lab", encoding="<b>" * 5, training="x" * 200)
    assert len(app.warning) == 1
    assert "This work is no longer known" in app.warning[0].value
    assert "encoding" not in app.query_params
    assert "training" not in app.query_params
