"""Compare shows the core's figures on held-out text, and a note if there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.comparison import compare
from bpe_core.corpus import load_sample
from bpe_core.diagnosis import Answer, Witness
from bpe_core.tokenizer import gpt2, gpt2_golden_result
from tests.app.pages import (
    OpenApp,
    all_sent,
    errors,
    page_text,
    sent,
    sent_table,
    sentence,
    unescaped_text,
    upload,
)
from tests.app.stored import store, store_hugs
from tests.app.training import draw_after, known_work
from tests.waiting import OfKind
from ui.compare import compared, language_costs, passage, terms
from ui.compare.figures import STRUCTURE, measured_structures
from ui.compare.passage import DIFF, found_differences, leading_sentence
from ui.look import counted
from ui.storage import (
    SAMPLE_RUN_ID,
    Trained,
    keep_uploaded,
    load_run,
    store_run,
)
from ui.tokenizers import money, shelf


def test_the_figures_match_the_core_on_held_out_text(open_app: OpenApp) -> None:
    app = open_app("compare")
    stored = load_run(SAMPLE_RUN_ID)
    comparison = compare(stored.held_out, [stored.run.tokenizer, gpt2()])
    rows, gain = comparison.rows, comparison.gain()
    share = 100 * (1 - rows[0].n_tokens / rows[1].n_tokens)
    said = sentence(app)
    assert f"{abs(share):.1f}%" in said
    # It is the first verdict that visitors see, so it has an interval, and says what it is on.
    low, high = gain.whole.low, gain.whole.high
    assert 0 < low < share < high
    assert said.startswith("On documents it has never seen, ")
    assert f"(95% interval {low:.1f}–{high:.1f}% over documents)" in said
    assert gain.carried_words in sent(app, "aside")["aside"]
    assert "on words alone it needs" in gain.carried_words
    assert "They answer for new documents" in page_text(app)
    (rival,) = sent(app, "chosen")["rows"]
    assert rival["name"] == "GPT-2"
    assert rival["tokens"] == f"{rows[1].n_tokens:,}"
    assert rival["figure"] == f"{abs(share):.1f}% {'fewer' if share > 0 else 'more'}"
    assert (rival["low"], rival["high"]) == (low, high)
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
    assert sentence(app).startswith("No verdict yet: on your own text this tokenizer needs ")
    assert "trained on" not in sent(app, "sentence")["aside"]
    (other,) = sent(app, "texts")["texts"]  # the training text of this run is not kept
    assert other["name"] == "The text on this page"
    assert other["text"] == ("It was a bright cold day in April. " * 25)[:300]
    assert other["ids"] == load_run(run_id).run.tokenizer.encode(other["text"])
    app = open_app("compare", run=run_id, text="hug hugs")
    assert "This tokenizer was trained on this text" in sent(app, "sentence")["aside"]
    # Without any text the field is still shown.
    app = open_app("compare", run=run_id, text="")
    assert not app.error
    assert sent(app, "label")["text"] == ""


def test_the_difference_is_shown_by_part_with_its_method(open_app: OpenApp) -> None:
    app = open_app("compare", by="By file")
    assert app.query_params["by"] == "By file"
    held_out = load_run(SAMPLE_RUN_ID).held_out
    assert held_out.how is not None
    documents, unseen = sent(app, "figures")["figures"]
    assert documents["value"] == f"{held_out.how.n_units:,}"
    assert "never trained on" in str(unseen)


def test_what_is_from_documents_trained_on_is_shown_with_the_reason(open_app: OpenApp) -> None:
    training, held_out = load_sample("alice").split(0.2)
    run_id = store_run(Trained("Alice", bpe.train(training, vocab_size=300), held_out, training))
    app = open_app("compare", run=run_id)
    figure = sent(app, "figures")["figures"][1]
    assert figure["value"] == "100%"
    assert "because there are fewer than 20 documents" in str(figure)
    assert "No interval: it takes 20 documents, and there are 12." in unescaped_text(app)


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

    monkeypatch.setattr(language_costs, "compare_languages_on", fail)
    monkeypatch.setattr(terms, "cut_terms_with", fail)
    monkeypatch.setattr(passage, "read_by_all", fail)
    for part in ("Verdict", "Figures"):
        app = open_app("compare", part=part)
        assert not app.error


def test_what_differs_is_shown_with_both_cuts_and_in_the_record(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a page shares its interpreter with the search")

    monkeypatch.setattr(passage, "diff", fail)
    app = open_app("compare", part="What differs")
    draw_after(app, OfKind(DIFF), known_work(DIFF))
    assert not app.error
    own = load_run(SAMPLE_RUN_ID).run.tokenizer
    found = bpe.diff(own, gpt2())
    witness = found.tokens.witness
    assert witness is not None
    n = counted(len(witness.text.encode()), "byte")
    assert sentence(app) == f"The example and GPT-2 cut a text of {n} into other tokens."
    rows = sent_table(app, "Both tokenizers on")["rows"]
    assert [row["cells"][0]["ids"] for row in rows] == [list(ids or ()) for ids in witness.ids]
    counts = dict(row[:2] for row in sent_table(app, "Tokens and merges that are not")["rows"])
    changes = found.vocabulary
    only = [f"{len(tokens):,}" for tokens in (changes.gone, changes.new)]
    assert counts["Tokens only in this one"] == only
    assert len(sent_table(app, "Tokens and merges that only one has")["rows"]) == 4
    steps = [row[:2] for row in sent_table(app, "Steps that are not")["rows"]]
    assert [name for name, _ in steps] == [name for name, _, _ in found.steps]
    app.segmented_control(key="part").set_value("Figures").run()
    measured = draw_after(app, OfKind(STRUCTURE), known_work(STRUCTURE)).result
    assert measured is not None
    text = "".join(load_sample("multilingual").documents)
    wanted = [bpe.structure(each, text) for each in (own, gpt2())]
    assert [*measured.values()] == wanted
    shown = dict(row[:2] for row in sent_table(app, "How what has a structure")["rows"])
    assert shown["Ways to cut 0 to 9999"] == [f"{each.number_cuts:,}" for each in wanted]
    assert shown["Characters cut"] == [f"{each.characters_cut:.0%}" for each in wanted]
    members = shelf.members(load_run(SAMPLE_RUN_ID))
    ((other, kept),) = found_differences(members)
    assert (other.name, kept.witness) == ("GPT-2", found.witness)
    structures = measured_structures(members)
    assert structures is not None
    assert structures["GPT-2"] == wanted[1].to_dict()


def test_the_answer_is_said_in_words_without_claiming_more_than_is_known() -> None:
    same = bpe.diff(gpt2(), gpt2())
    said, aside = leading_sentence("A", "B", same)
    assert "".join(text for text, _ in said) == "A and B give every text the same ids."
    assert aside == same.why
    tried = Answer("no difference found", "A library runs one of them.", None, 1_234)
    said, aside = leading_sentence("A", "B", replace(same, ids=tried, tokens=tried))
    words = "".join(text for text, _ in said)
    assert words == "A and B give the same ids to all of 1,234 texts that were tried."
    assert aside.startswith("That proves nothing.")
    special = Witness("<x>", True, ((1,), None), ((b"<x>",), None))
    answer = Answer("different (witness)", "", special)
    said, aside = leading_sentence("A", "B", replace(same, ids=answer, tokens=same.tokens))
    assert "".join(text for text, _ in said) == "A and B give a text of 3 bytes other ids."
    for part in ("a shorter one may differ", "special tokens", "only have other ids"):
        assert part in aside


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
    whole = comparison.gain().whole
    said = sentence(app)
    assert said.startswith("On your own text, 24 documents, the example needs ")
    assert f"{abs(whole.percent_fewer):.1f}%" in said
    low, high = sorted((abs(whole.low), abs(whole.high)))
    assert f"(95% interval {low:.1f}–{high:.1f}% over documents)" in said
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
    assert sentence(app).startswith("No verdict yet: on your own text the example needs ")
    app.segmented_control(key="part").set_value("Passage").run()
    assert sent(app, "spans")["text"] == text[:990]
    held_out = open_app("compare", text=text[:990])
    assert sentence(held_out).startswith("On documents it has never seen, ")


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
    kept = keep_uploaded(corpus, "hugs")
    said = sentence(open_app("compare", on="Your own text", own=kept))
    assert said.startswith("On your own text, 1 document, ")
    monkeypatch.setattr(compared, "MAX_BYTES", 1_000)
    kept = keep_uploaded(corpus, "hugs")
    app = open_app("compare", own=kept)
    (error,) = app.warning
    assert "the limit here is 1,000" in error.value.replace("\\", "")
    app = open_app("compare", own="a" * 32)
    assert "no longer kept" in app.warning[0].value
    assert "No verdict yet" in sentence(app)
    upload(app, "evaluation_files", ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(99)))
    assert app.error
    assert "own" not in app.query_params


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
