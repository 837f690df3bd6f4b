"""Compare shows the core's figures on held-out text, and a note if there is none."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.comparison.comparison import compare
from bpe_core.comparison.parts import compute_gain
from bpe_core.tokenizer.gpt2 import gpt2, gpt2_golden_result
from tests.app.pages import OpenApp, all_sent, page_text, sent, sent_table, sentence, upload
from tests.app.stored import store_hugs
from ui.compare import evaluation, languages, passage, terms_part
from ui.storage.run_store import SAMPLE_RUN_ID, load_run
from ui.storage.upload_store import UploadedCorpus, keep_uploaded


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


FILES = {
    "one.txt": "The parser reads a token and returns a node of the tree.\n" * 60,
    "<b>two</b>.txt": "Ein Satz auf Deutsch mit Umlauten: schöne Grüße.\n" * 60,
}


def open_own_files(app: AppTest, files: dict[str, str] = FILES) -> AppTest:
    encoded = [(name, text.encode()) for name, text in files.items()]
    return upload(app, "evaluation_files", *encoded)


def test_the_verdict_is_on_own_files_with_its_interval(open_app: OpenApp) -> None:
    files = {f"{n} {name}": text[n:] for n in range(12) for name, text in FILES.items()}
    app = open_own_files(open_app("compare", on="Your own text"), files)
    assert not app.error
    corpus = bpe.Corpus.from_documents(list(files.values()), list(files))
    comparison = bpe.compare(corpus, [load_run(SAMPLE_RUN_ID).run.tokenizer, bpe.gpt2()])
    whole = compute_gain(comparison).whole
    said = sentence(app)
    assert said.startswith("On your own text, 24 documents, your tokenizer needs ")
    assert f"{abs(whole.percent_fewer):.1f}%" in said
    low, high = sorted((abs(whole.low), abs(whole.high)))
    assert f"(95% interval {low:.1f}–{high:.1f}%)" in said
    app.segmented_control(key="part").set_value("Figures").run()
    assert "On all your own text" in [header.value for header in app.header]
    rows = sent_table(app, "Figures of the tokenizers")["rows"]
    assert rows[0][1] == [f"{row.n_tokens:,}" for row in comparison.rows]
    app.segmented_control(key="part").set_value("Passage").run()
    passage = sent(app, "spans")
    assert any(text.startswith(passage["text"]) for text in files.values())
    assert passage["source"].startswith("your document “")
    assert "24 documents" in page_text(app)
    assert "<b>two" not in page_text(app)


def test_own_files_survive_a_reload_until_they_are_closed(open_app: OpenApp) -> None:
    app = open_own_files(open_app("compare", on="Your own text"))
    again = open_app("compare", on="Your own text", own=str(app.query_params["own"]))
    assert sentence(again) == sentence(app)
    again.button(key="evaluation_files_close").click().run()
    assert "own" not in again.query_params
    assert "the text is only an example" in sentence(again)


def test_typed_text_is_compared_on(open_app: OpenApp) -> None:
    text = "It was a bright cold day in April, and the clocks were striking thirteen. " * 80
    app = open_app("compare", on="Your own text", text=text[:990])
    assert sentence(app).startswith("No verdict yet: your own text has only ")
    app.segmented_control(key="part").set_value("Passage").run()
    assert sent(app, "spans")["text"] == text[:990]
    held_out = open_app("compare", text=text[:990])
    assert sentence(held_out).startswith("On held-out text, ")


def test_own_text_does_not_estimate_what_the_corpus_costs(open_app: OpenApp) -> None:
    app = open_app("compare", on="Your own text", price="2.5")
    app = open_own_files(app)
    notes = [each.proto.help for each in app.header if "training text has" in each.proto.help]
    assert notes
    assert "its cost is estimated" not in notes[0]


def test_a_corpus_of_train_is_compared_on_unless_it_is_large(
    open_app: OpenApp, monkeypatch: Any
) -> None:
    corpus = bpe.Corpus.from_text("hug hugs\n" * 200)
    kept = keep_uploaded(UploadedCorpus(corpus, "hugs"))
    said = sentence(open_app("compare", on="Your own text", own=kept))
    assert said.startswith("On your own text, 1 document, ")
    monkeypatch.setattr(evaluation, "MAX_BYTES", 1_000)
    kept = keep_uploaded(UploadedCorpus(corpus, "hugs"))
    app = open_app("compare", on="Your own text", own=kept)
    (error,) = app.toast
    assert "the limit here is 1,000" in error.value.replace("\\", "")
    app = open_app("compare", on="Your own text", own="a" * 32)
    assert "no longer kept" in app.toast[0].value
    assert "No verdict yet" in sentence(app)
    upload(app, "evaluation_files", ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(99)))
    assert app.error
    assert "own" not in app.query_params
