"""Test the Detective page without a browser: the inferred shares reach the page."""

from __future__ import annotations

import numpy as np
import pytest

import bpe_core as bpe
from tests.app.pages import OpenApp, sent
from tests.app.training import draw_after, known_ids
from tests.waiting import OfKind
from ui.detective import inference
from ui.detective.inference import MIXTURE, OWN, share_bars
from ui.storage import SAMPLE_RUN_ID, load_run


def test_own_samples_are_read_and_their_shares_drawn(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two small texts are enough to show that the shipped ones reach the page.
    tales = {"French tale": "chaperon-rouge", "German tale": "rotkaeppchen"}
    monkeypatch.setattr(inference, "_KINDS", tales)
    app = open_app("detective")
    (id,) = known_ids(MIXTURE)
    draw_after(app, OfKind(MIXTURE), id)
    assert {row["label"] for row in sent(app, "rows")["rows"]} == {*tales}
    app.segmented_control(key="samples").set_value(OWN).run()
    assert any("Two or more samples are needed" in info.value for info in app.info)
    uploads = app.file_uploader(key="detective_files")
    texts = {"hugs": "hug hugs hugging " * 60, "puns": "pun punning bun " * 60}
    for name, text in texts.items():
        uploads.upload(f"{name}.txt", text.encode(), "text/plain")
    app.run()
    (id,) = set(known_ids(MIXTURE)) - {id}
    found = draw_after(app, OfKind(MIXTURE), id).result
    assert found is not None
    tokenizer = load_run(SAMPLE_RUN_ID).run.tokenizer
    assert np.allclose(found.shares, bpe.mixture(tokenizer, texts, n_steps=120).shares)
    first = int(np.argmax(found.shares))
    sentence = "".join(text for text, _ in sent(app, "sentence")["sentence"])
    assert f"{found.shares[first]:.0%}" in sentence
    rows = sent(app, "rows")["rows"]
    assert rows[0]["label"] == found.categories[first]
    assert rows[0]["cells"]
    # The tokenizer was trained on another text, so the page says that they do not fit.
    assert any("do not fit" in warning.value for warning in app.warning)


def test_bars_have_intervals_and_are_grey_if_the_samples_do_not_fit() -> None:
    samples = {"<b>hugs": "hug hugs hugging " * 40, "puns": "pun puns punning bun " * 40}
    tokenizer = bpe.train([samples["<b>hugs"] * 3, samples["puns"]], vocab_size=280).tokenizer
    found = bpe.mixture(tokenizer, samples, n_resamples=4)
    figure = share_bars(found, [0, 1], "light")
    (bar,) = figure.data
    assert np.allclose(bar.x, 100 * found.shares)
    assert np.allclose(bar.x + np.array(bar.error_x.array), 100 * found.high)
    assert "<b>" not in figure.layout.yaxis.ticktext[0]
