"""Compare shows the core's figures on held-out text, and a note if there is none."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.comparison.comparison import compare
from bpe_core.tokenizer.gpt2 import gpt2, gpt2_golden_result
from tests.app.pages import OpenApp, all_sent, sent, sent_table, sentence
from tests.app.stored import store_hugs
from ui.compare import languages, passage, terms_part
from ui.storage.run_store import SAMPLE_RUN_ID, load_run


def test_the_figures_match_the_core_on_held_out_text(open_app: OpenApp) -> None:
    app = open_app("compare")
    stored = load_run(SAMPLE_RUN_ID)
    rows = compare(stored.held_out, [stored.run.tokenizer, gpt2()]).rows
    share = 100 * (1 - rows[0].n_tokens / rows[1].n_tokens)
    said = sentence(app)
    assert f"{abs(share):.1f}%" in said
    # The sample has too few documents for an interval, and says so.
    assert "interval" not in said
    assert any(
        "it takes 20 documents, and there" in each.value.replace("\\", "") for each in app.markdown
    )
    (rival,) = sent(app, "chosen")["rows"]
    assert rival["name"] == "GPT-2"
    assert rival["tokens"] == f"{rows[1].n_tokens:,}"
    assert rival["figure"] == f"{abs(share):.1f}% {'fewer' if share > 0 else 'more'}"
    assert (rival["low"], rival["high"]) == (None, None)
    app.segmented_control(key="part").set_value("Figures").run()
    tokens, bytes_per_token, *_ = sent_table(app, "Figures of the tokenizers")["rows"]
    assert tokens[:2] == ["Tokens", [f"{row.n_tokens:,}" for row in rows]]
    assert bytes_per_token[1] == [f"{row.bytes_per_token:.2f}" for row in rows]


def test_the_passage_is_held_out_text_under_both_tokenizers_and_so_is_a_word(
    open_app: OpenApp,
) -> None:
    app = open_app("compare", part="Passage")
    stored = load_run(SAMPLE_RUN_ID)
    passage = sent(app, "spans")
    assert any(document.startswith(passage["text"]) for document in stored.held_out.documents)
    tokenizers = [stored.run.tokenizer, gpt2()]
    counts = [reading["n_tokens"] for reading in passage["readings"]]
    assert counts == [len(tokenizer.encode(passage["text"])) for tokenizer in tokenizers]
    cuts = [
        [tokenizer.vocab[id] for id in tokenizer.encode(trees(app)["text"])]
        for tokenizer in tokenizers
    ]
    assert cuts[0] != cuts[1]
    app.text_input(key="word").set_value(" <b>naïve").run()
    assert trees(app)["text"] == " <b>naïve"
    for reading, tokenizer in zip(trees(app)["readings"], tokenizers, strict=True):
        assert {*tokenizer.encode(" <b>naïve")} <= {*reading["packed"]["table"]["ids"]}
    exact, of = gpt2_golden_result()
    assert exact == of == len(sent_table(app, "Golden texts")["rows"])


def trees(app: AppTest) -> dict[str, Any]:
    """Return what was sent to the trees of a word: the data with readings but without spans."""
    return next(d for d in all_sent(app) if "readings" in d and "spans" not in d)


def test_a_run_without_held_out_text_is_compared_on_the_visitors_text(open_app: OpenApp) -> None:
    run_id = store_hugs()
    app = open_app("compare", run=run_id)
    assert "has no held-out text" in app.info[0].value
    assert sentence(app).startswith("No verdict yet: the text is only an example.")
    assert "Paste about" in sent(app, "sentence")["aside"]
    app = open_app("compare", run=run_id, text="It was a bright cold day in April. " * 25)
    assert sentence(app).startswith("No verdict yet: your own text has only")
    # Without any text the field is still shown.
    app = open_app("compare", run=run_id, text="")
    assert not app.error
    assert sent(app, "label")["text"] == ""


def test_the_difference_is_shown_by_part_with_its_method(open_app: OpenApp) -> None:
    app = open_app("compare", by="By file")
    assert app.query_params["by"] == "By file"
    held_out = load_run(SAMPLE_RUN_ID).held_out
    assert held_out.how is not None
    share = f"{held_out.how.share_within:.0%}"
    assert share in [figure["value"] for figure in sent(app, "figures")["figures"]]


@pytest.mark.parametrize(
    ("part", "query"),
    [
        ("Verdict", {"with": "gpt2", "against": "gpt2"}),
        ("Passage", {"word": " hugs"}),
        ("Terms and cost", {"terms": "hug " * 999}),
        ("Terms and cost", {"price": "2.5"}),
        ("Languages", {"reference": "Thai"}),
        ("Figures", {"part": "Figures", "terms": "hug", "reference": "Thai"}),
    ],
)
def test_a_link_leads_to_the_part_that_it_is_for(
    open_app: OpenApp, part: str, query: dict[str, str]
) -> None:
    app = open_app("compare", **query)
    assert app.segmented_control(key="part").value == part


def test_only_the_chosen_part_is_computed_and_drawn(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(languages, "compare_languages_on", fail)
    monkeypatch.setattr(terms_part, "cut_terms_with", fail)
    monkeypatch.setattr(passage, "read_by_all", fail)
    for part in ("Verdict", "Figures"):
        app = open_app("compare", part=part)
        assert not app.error
