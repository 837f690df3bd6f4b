"""Test the Detective page without a browser: the inferred shares reach the page."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.corpus import Upload
from bpe_core.files import Entry
from bpe_core.vocabulary import Mixture, mixtures
from tests.app.pages import OpenApp, errors, page_text, sent, upload
from tests.app.training import draw_after, known_ids
from tests.waiting import OfKind
from ui.detective import inference
from ui.detective.inference import MIXTURE, OWN, leading_sentence, share_bars
from ui.look import PALETTES
from ui.shell import workspace
from ui.shell.open_run import OwnKeys, RecentRuns
from ui.storage import SAMPLE_RUN_ID, load_run
from ui.work import Progress, Task, background, queue, read_beginning


def test_own_samples_are_read_and_their_shares_drawn(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two small texts are enough to show that the shipped ones reach the page.
    tales = {"French tale": "chaperon-rouge", "German tale": "rotkaeppchen"}
    monkeypatch.setattr(mixtures, "KINDS", tales)
    app = open_app("detective")
    (id,) = known_ids(MIXTURE)
    found = draw_after(app, OfKind(MIXTURE), id).result
    assert found is not None
    assert {*found.categories} == {*tales}
    named = {name for name, merges in found.witnesses.items() if merges}
    assert named
    assert {row["label"] for row in sent(app, "rows")["rows"]} == named
    app.segmented_control(key="samples").set_value(OWN).run()
    assert any("Upload two or more samples" in info.value for info in app.info)
    uploads = app.file_uploader(key="detective_files")
    texts = {"hugs": "hug hugs hugging " * 60, "puns": "pun punning bun " * 60}
    for name, text in texts.items():
        uploads.upload(f"{name}.txt", text.encode(), "text/plain")
    app.run()
    (id,) = set(known_ids(MIXTURE)) - {id}
    before = set(known_ids(MIXTURE))
    found = draw_after(app, OfKind(MIXTURE), id).result
    assert found is not None
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    assert np.allclose(found.shares, bpe.mixture(tokenizer, texts, n_steps=120).shares)
    first = int(np.argmax(found.shares))
    sentence = "".join(text for text, _ in sent(app, "sentence")["sentence"])
    assert sentence.startswith(f"Of these samples, {found.categories[first]} comes nearest")
    named = {name for name, merges in found.witnesses.items() if merges}
    assert {row["label"] for row in sent(app, "rows")["rows"]} == named
    # A file that cannot be read hides no other, nor does one of the same name.
    files = [(f"{name}.txt", text.encode()) for name, text in texts.items()]
    bad, same = ("bad.png", b"\x89PNG\r\n\x1a\n\x00\x00"), ("hugs.md", b"hug pun hugging " * 60)
    read: list[str] = []

    def follow(files: Sequence[Upload], *given: Any, **named: Any) -> tuple[bpe.Corpus, int]:
        read.extend(file.name for file in files)
        return read_beginning(files, *given, **named)

    monkeypatch.setattr(inference, "read_beginning", follow)
    upload(app, "detective_files", *files, bad, same, same)
    app.run()
    assert {name: read.count(name) for name in read if name != "bad.png"} == {
        "hugs.txt": 1,
        "puns.txt": 1,
        "hugs.md": 2,
    }
    assert "bad.png" in errors(app)
    (id,) = set(known_ids(MIXTURE)) - before
    found = draw_after(app, OfKind(MIXTURE), id).result
    assert found is not None
    assert {*found.categories} == {"hugs", "puns", "hugs.md", "hugs.md (2)"}
    # The tokenizer was trained on another text, so the page says that they do not fit.
    assert any("do not fit" in warning.value for warning in app.warning)
    monkeypatch.setattr(Mixture, "MAX_CATEGORIES", 2)
    app.run()
    assert [each.value for each in app.warning] == ["These are 5 files. Remove all but 2 of them."]


def test_a_visitor_can_have_a_few_inferences_at_a_time(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "current_visitor", lambda: "one")
    ends = Event()

    def work(_: Task[Progress]) -> Mixture:
        ends.wait()
        raise CancelledError

    for n in range(4):
        queue.begin(MIXTURE, f"{n}", work)
    app = open_app("detective")
    ends.set()
    assert "You already have 4 running or waiting" in errors(app)


def test_the_example_is_not_passed_off_as_the_visitor_s_own(open_app: OpenApp) -> None:
    key = "0123456789abcdef" * 2
    own = replace(load_run(SAMPLE_RUN_ID).name, id=Entry.owned_id(key), title="My <b>hugs")
    other = replace(own, id="f" * 32, title="Opened by a link")
    app = open_app("detective", RecentRuns(names=(other, own)), samples=OWN)
    assert "This page shows the example run" not in page_text(app)
    app.session_state[workspace.state_key(OwnKeys)] = OwnKeys((key,))
    app.run()
    said = "This page shows the example run. Choose your own, "
    assert f"{said}My \\<b\\>hugs, under Run." in page_text(app)


def test_bars_have_intervals_and_are_grey_if_the_samples_do_not_fit() -> None:
    samples = {"<b>hugs": "hug hugs hugging " * 40, "puns": "pun puns punning bun " * 40}
    tokenizer = bpe.train([samples["<b>hugs"] * 3, samples["puns"]], vocab_size=280).tokenizer
    found = bpe.mixture(tokenizer, samples, n_resamples=4)
    found = replace(
        found, shares=np.array([0.998, 0.002]), low=np.zeros(2), high=np.array([0.9984, 0.0021])
    )
    figure = share_bars(found, [0, 1], "light")
    beside = [str(one.text) for one in figure.layout.annotations]
    assert beside[:2] == ["<b>99.8%</b> 0.0–99.8", "<b>0.2%</b> 0.0–0.2"]
    (bar,) = figure.data
    assert np.allclose(bar.x, 100 * found.shares)
    assert np.allclose(bar.x + np.array(bar.error_x.array), 100 * found.high)
    assert bar.marker.color == PALETTES["light"].bar
    found = replace(found, fit=1.0)
    assert share_bars(found, [0, 1], "light").data[0].marker.color == PALETTES["light"].primary
    sentence, _ = leading_sentence(found, [0, 1], "")
    assert sentence[1] == (
        f"{found.shares[0]:.0%} ({found.low[0]:.0%} to {found.high[0]:.0%})",
        True,
    )
    assert "<b>" not in figure.layout.yaxis.ticktext[0]


def test_the_limits_are_said_of_published_tokenizers_alone(open_app: OpenApp) -> None:
    app = open_app("detective")
    assert "those of GPT-4" not in page_text(app)
    app.segmented_control(key="detective_tokenizer").set_value("GPT-2").run()
    assert "those of GPT-4" in page_text(app)
