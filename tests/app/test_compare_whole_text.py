"""Compare shows figures of a sample while the whole text is compared in the background."""

from __future__ import annotations

import re
from concurrent.futures import CancelledError
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.comparison import Blocks, Measured
from bpe_core.corpus import load_sample
from tests.app.pages import OpenApp, sent_table, sentence
from tests.app.stored import store
from tests.app.training import draw_after, known_ids, known_work
from tests.waiting import OfKind, wait_until
from ui.compare import compared
from ui.compare.compared import COMPARE
from ui.storage import SAMPLE_RUN_ID, load_run
from ui.work import TooMuchWorkError, queue

MEASURE = Measured.of
SAMPLE = 2_000
TIME_LEFT = re.compile(r"Whole text: .+ of .+, .+ a second, about \d+ (s|min|h) left")


class HeldBack:
    """A `Measured.of` that delays whole texts until it is released or cancelled."""

    def __init__(self) -> None:
        self.released = Event()
        self.n_whole = 0

    def __call__(
        self, corpus: bpe.Corpus, encoder: bpe.Encoder, blocks: Blocks, should_stop: Any = None
    ) -> Measured:
        if should_stop is None:
            return MEASURE(corpus, encoder, blocks)
        self.n_whole += 1
        while not self.released.wait(0.01):
            if should_stop(corpus.n_bytes // 4, corpus.n_bytes):
                raise CancelledError
        return MEASURE(corpus, encoder, blocks, should_stop)


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> HeldBack:
    """Treat the sample run's held-out text as a long one, and delay its comparison."""
    held_back = HeldBack()
    monkeypatch.setattr(Measured, "of", held_back)
    monkeypatch.setattr(compared, "SAMPLE_BYTES", SAMPLE)
    monkeypatch.setattr(compared, "_QUICK_BYTES", 0)
    monkeypatch.setattr(compared, "MAX_WAIT", 0.0)
    for cached in (compared._sample, compared._measured, compared._compared):  # pyright: ignore[reportPrivateUsage]
        cached.clear()
    return held_back


def tokens(app: AppTest) -> list[str]:
    table = sent_table(app, "Figures of the tokenizers")
    return table["rows"][0][1]


def count_tokens(corpus: bpe.Corpus) -> list[str]:
    encoders = [load_run(SAMPLE_RUN_ID).run.tokenizer, bpe.gpt2()]
    return [f"{row.n_tokens:,}" for row in bpe.compare(corpus, encoders).rows]


def marked(app: AppTest) -> bool:
    return any("First figure, from a sample of " in each.value for each in app.markdown)


def test_the_first_figures_are_of_a_sample_and_marked(
    open_app: OpenApp, held_back: HeldBack
) -> None:
    held_out = load_run(SAMPLE_RUN_ID).held_out
    app = open_app("compare")
    assert marked(app)
    assert "On a sample of documents it has never seen" in sentence(app)
    assert app.button(key="compare_whole_cancel").label == "Cancel"
    wait_until(OfKind(COMPARE), known_work(COMPARE), lambda each: bool(each.progress))
    (bar,) = app.run().get("progress")
    assert TIME_LEFT.match(bar.proto.text)
    downloads = {each.proto.label: each.proto.disabled for each in app.get("download_button")}
    assert downloads["CSV"]
    assert downloads["comparison.json"]
    app.segmented_control(key="part").set_value("Figures").run()
    assert marked(app)
    assert tokens(app) == count_tokens(held_out.sample(SAMPLE)) != count_tokens(held_out)
    assert "On a sample of held-out text" in [header.value for header in app.header]

    held_back.released.set()
    assert draw_after(app, OfKind(COMPARE), known_work(COMPARE)).state == "finished"
    assert tokens(app) == count_tokens(held_out)
    assert not marked(app)
    assert "On all held-out text" in [header.value for header in app.header]


def test_a_link_opened_again_shows_the_whole_at_once(
    open_app: OpenApp, held_back: HeldBack
) -> None:
    held_back.released.set()
    open_app("compare")
    wait_until(OfKind(COMPARE), known_work(COMPARE))
    # Forget the work, as the server does after much other work.
    queue.forget(COMPARE, known_work(COMPARE))
    again = open_app("compare", part="Figures")
    assert not marked(again)
    assert tokens(again) == count_tokens(load_run(SAMPLE_RUN_ID).held_out)
    # Once for each of the two tokenizers.
    assert held_back.n_whole == 2


def test_adding_a_tokenizer_measures_only_that_one(open_app: OpenApp, held_back: HeldBack) -> None:
    held_back.released.set()
    open_app("compare")
    wait_until(OfKind(COMPARE), known_work(COMPARE))
    assert held_back.n_whole == 2
    queue.forget(COMPARE, known_work(COMPARE))
    run_id = store(bpe.train(load_sample("notebook"), bpe.TrainingConfig(300)))
    for with_ in (f"gpt2,run-{run_id}", "gpt2"):
        open_app("compare", **{"with": with_})
        for id in known_ids(COMPARE):
            wait_until(OfKind(COMPARE), id)
    assert held_back.n_whole == 3


def test_cancelling_keeps_the_figures_of_the_sample(open_app: OpenApp, held_back: HeldBack) -> None:
    app = open_app("compare", part="Figures")
    first = tokens(app)
    app.button(key="compare_whole_cancel").click().run()
    assert draw_after(app, OfKind(COMPARE), known_work(COMPARE)).state == "cancelled"
    assert marked(app)
    assert tokens(app) == first
    assert any("comparison of the whole text was cancelled" in m.value for m in app.markdown)
    held_back.released.set()
    app.button(key="compare_whole_again").click().run()
    draw_after(app, OfKind(COMPARE), known_work(COMPARE))
    assert not marked(app)


def test_a_full_queue_leaves_the_sample(
    open_app: OpenApp, held_back: HeldBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise TooMuchWorkError("16 others are already waiting. Try again soon.")

    monkeypatch.setattr(compared, "queue", SimpleNamespace(begin=full))
    app = open_app("compare")
    assert marked(app)
    assert any("16 others are already waiting" in each.value for each in app.markdown)
    assert held_back.n_whole == 0


def test_a_short_text_is_compared_at_once(open_app: OpenApp) -> None:
    assert not marked(open_app("compare"))
    assert not known_ids(COMPARE)
