"""Costs on Compare and Pair frequencies are shown only for figures that the visitor enters."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from tests.app.pages import OpenApp, all_sent, errors
from tests.app.stored import store
from ui.storage.run_store import SAMPLE_RUN_ID, load_run
from ui.tokenizers.costs import money

ON_COMPARE, ON_SIZES = "What it costs", "What this size costs"
OF_THE_CORPUS = "Cost of the corpus, estimated"


def costs(app: AppTest, caption: str) -> dict[str, list[str]]:
    [table] = [each for each in all_sent(app) if each.get("caption") == caption]
    return {name: figures for name, figures, _ in table["rows"]}


def test_no_price_width_or_window_is_built_in(open_app: OpenApp) -> None:
    app = open_app("compare", part="Terms and cost")
    assert [app.number_input(key=key).value for key in ("price", "width", "window")] == [None] * 3
    assert list(costs(app, ON_COMPARE)) == [
        "Tokens of held-out text",
        "Tokens of the training text",
        "Rows of the embedding",
    ]


def test_a_corpus_has_no_estimate_where_text_is_left_out(open_app: OpenApp) -> None:
    corpus = bpe.Corpus.from_text("ab cd ab cd\n" * 200)
    config = bpe.TrainingConfig(8, base="characters", alphabet="seen", special_tokens=())
    run_id = store(bpe.train(corpus, config), "Letters")
    app = open_app("compare", price="2.5", **{"with": f"gpt2,run-{run_id}"})
    own, other, letters = costs(app, ON_COMPARE)[OF_THE_CORPUS]
    assert letters == "–"
    assert "–" not in (own, other)
    # Without held-out text, an example text is compared, which cannot price the corpus.
    app = open_app("compare", price="2.5", run=run_id)
    found = costs(app, ON_COMPARE)
    assert "Cost of the example text" in found
    assert OF_THE_CORPUS not in found


def test_a_figure_that_no_model_has_is_refused_and_the_others_stay(open_app: OpenApp) -> None:
    app = open_app("compare", price="2.5", window="8192")
    stored = load_run(SAMPLE_RUN_ID)
    rows = bpe.compare(stored.held_out, [stored.run.tokenizer, bpe.gpt2()]).rows
    expected = [money(row.n_tokens * 2.5 / 1e6) for row in rows]
    assert costs(app, ON_COMPARE)["Cost of held-out text"] == expected
    assert "Window saved against GPT-2" in costs(app, ON_COMPARE)
    app.number_input(key="window").set_value(1e300)
    app.number_input(key="width").set_value(-768.0)
    app.run()
    assert len(app.error) == 2
    assert "1e+300" in errors(app)
    found = costs(app, ON_COMPARE)
    assert found["Cost of held-out text"] == expected
    assert "Parameters, tied" not in found


def test_the_costs_follow_the_slider(open_app: OpenApp) -> None:
    app = open_app("pair_frequencies", merges="1000", price="2.5", width="64")
    stored = load_run(SAMPLE_RUN_ID)
    assert stored.held_out_tokens_after is not None
    tokens = bpe.compare(stored.held_out, [bpe.gpt2()]).rows[0].n_tokens
    found = costs(app, ON_SIZES)
    held_out = [stored.held_out_tokens_after[step] for step in (1_000, -1)]
    assert found["Tokens of held-out text"] == [f"{n:,}" for n in (*held_out, tokens)]
    app.slider(key=f"merges_kept_{SAMPLE_RUN_ID}").set_value(2_000)
    app.run()
    found = costs(app, ON_SIZES)
    size = stored.run.tokenizer.vocab_size - len(stored.run.merges) + 2_000
    assert found["Rows of the embedding"][0] == f"{size:,}"
    assert found["Parameters, untied"][0] == f"{2 * 64 * size:,}"
    assert found["Tokens of the training text"][0] == f"{stored.run.tokens_after[2_000]:,}"
