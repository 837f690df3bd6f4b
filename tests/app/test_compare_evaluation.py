"""Compare on the visitor's own text: a file or typed text in place of the held-out text."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.comparison.parts import compute_gain
from tests.app.pages import OpenApp, page_text, sent, sent_table, sentence, upload
from ui.compare import evaluation
from ui.storage.run_store import SAMPLE_RUN_ID, load_run
from ui.storage.upload_store import UploadedCorpus, keep_uploaded

FILES = {
    "one.txt": "The parser reads a token and returns a node of the tree.\n" * 60,
    "<b>two</b>.txt": "Ein Satz auf Deutsch mit Umlauten: schöne Grüße.\n" * 60,
}


def open_files(app: AppTest, files: dict[str, str] = FILES) -> AppTest:
    encoded = [(name, text.encode()) for name, text in files.items()]
    return upload(app, "evaluation_files", *encoded)


def test_the_verdict_is_on_own_files_with_its_interval(open_app: OpenApp) -> None:
    files = {f"{n} {name}": text[n:] for n in range(12) for name, text in FILES.items()}
    app = open_files(open_app("compare", on="Your own text"), files)
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
    app = open_files(open_app("compare", on="Your own text"))
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
    app = open_files(app)
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
