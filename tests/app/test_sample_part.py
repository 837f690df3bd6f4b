"""Pair frequencies checks, when asked, whether a run's text is large enough."""

from __future__ import annotations

import json
import random
from concurrent.futures import CancelledError
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.adapting.extend import extend
from bpe_core.runs.sample_check import check_parts
from tests.app.pages import OpenApp
from tests.app.stored import store
from tests.waiting import wait_until
from ui.pair_frequencies.sample_part import checking, checks, stored_text, verdict_on
from ui.storage.base_tokenizer import BaseName
from ui.storage.run_files import MAX_KEPT, CorpusOrigin
from ui.storage.run_store import Trained, load_run, store_run

CONFIG = bpe.TrainingConfig(330)
SHARE = 8
UPLOADED = CorpusOrigin("upload", "", SHARE)


def _text(n_lines: int) -> bpe.Corpus:
    drawn = random.Random(7)
    words = ["".join(drawn.choices("abcdefgh", k=6)) for _ in range(60)]
    return bpe.Corpus.from_text(
        "\n".join(" ".join(drawn.choices(words, k=8)) for _ in range(n_lines))
    )


def _stored(corpus: bpe.Corpus, share: float = SHARE / 100) -> str:
    training, held_out = corpus.split(share)
    run = bpe.train(training, CONFIG)
    return store_run(
        Trained("A text", run, held_out, training=training, came_from=(UPLOADED, corpus))
    )


def test_a_check_begins_when_asked_and_shows_the_figures_of_the_core(open_app: OpenApp) -> None:
    corpus = _text(2_000)
    run_id = _stored(corpus)
    stored = load_run(run_id)
    app = open_app("pair_frequencies", run=run_id, part="How large?")
    assert checking(stored) is None  # opening the page starts no check
    app.button(key="sample_check").click().run()
    status = checking(stored)
    assert status is not None
    assert wait_until(checks(), status.id).problem is None
    app.run()
    found = bpe.sample_check(corpus, CONFIG)
    charts: dict[str, Any] = {}
    for element in app.get("plotly_chart"):
        figure = json.loads(element.proto.spec)
        charts |= {note["text"]: figure for note in figure["layout"].get("annotations", [])}
    jaccard, equal = charts["shared with the whole text, in %"]["data"]
    assert equal["y"] == [100 * each.share_of_equal_tokens for each in found]
    assert jaccard["y"] == [100 * each.weighted_jaccard for each in found]
    (lengths,) = charts["bytes per token on held-out text"]["data"]
    assert lengths["y"] == [each.bytes_per_token for each in found]
    assert f"**{verdict_on(found)}**" in [markdown.value for markdown in app.markdown]


def test_a_check_can_be_stopped_and_holds_out_text_itself_if_none_is() -> None:
    corpus = _text(500)
    training, held_out = corpus.split(0.08)
    with pytest.raises(CancelledError):
        check_parts(training, held_out, CONFIG, should_stop=lambda: True)
    assert check_parts(corpus, corpus.split(0)[1], CONFIG) == bpe.sample_check(corpus, CONFIG)


def test_a_run_without_its_text_says_what_to_do(open_app: OpenApp) -> None:
    words = bpe.Corpus.from_word_counts({" Kubernetes": 5, " kubectl": 5})
    extended = store(extend(bpe.gpt2(), words, 2), base=BaseName("gpt2", "GPT-2"))
    cases = [(_stored(words, 0), "words with their counts"), (extended, "extends a tokenizer")]
    for run_id, why in cases:
        app = open_app("pair_frequencies", run=run_id, part="How large?")
        assert any(why in info.value for info in app.info)
        assert "sample_check" not in [button.key for button in app.button]


def test_a_long_text_is_checked_only_while_it_is_uploaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path))
    corpus = bpe.Corpus.from_text("a line of hugs\n" * (MAX_KEPT // 10))
    stored = load_run(_stored(corpus))
    why = stored_text(stored, None)
    assert isinstance(why, str)
    assert "is not kept whole. Upload it on Train" in why
    assert "--vocab-size" in why
    other = stored_text(stored, _text(3))
    assert other == why
    text = stored_text(stored, corpus)
    assert not isinstance(text, str)
    training, held_out = text.read()
    assert training.sha256 == stored.run.corpus_sha256
    assert held_out == stored.held_out


@pytest.mark.parametrize(
    ("equal", "gain", "meaning"),
    [
        (0.98, 1.002, "Half of the text gives 98% of the same tokens: the text is large enough."),
        (0.80, 1.002, "which rare tokens are learned"),
        (0.98, 1.03, "3.0% more bytes per token on held-out text: more text would give a better"),
        (0.98, 0.99, "1.0% fewer bytes per token"),
    ],
)
def test_the_sentence_follows_from_the_figures(equal: float, gain: float, meaning: str) -> None:
    half = bpe.SampleFigures(0.5, 1, 1, equal, 0.9, 4.0)
    whole = bpe.SampleFigures(1, 2, 1, 1.0, 1.0, 4.0 * gain)
    assert meaning in verdict_on([half, whole])
