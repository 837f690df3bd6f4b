"""Adapt: domain terms, tokens left out or pinned, and characters that the base lacks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest
from sentencepiece import SentencePieceProcessor
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from bpe_core.adapting import DEFAULT_COVERAGE
from bpe_core.formats import dumps
from bpe_core.tokenizer import gpt2
from bpe_core.trainers import count_with_missing
from tests.app.adapting import (
    open_extended,
    open_with_base,
    read_kinds,
    read_verdict,
    run_extension,
)
from tests.app.pages import (
    OpenApp,
    in_address,
    metrics,
    page_text,
    paste,
    read_query,
    sent_table,
    unescaped_text,
)
from tests.app.training import held_back, known_work
from tests.waiting import MAX_WAIT_SECONDS, OfKind, wait_until
from ui.adapt import result_parts
from ui.adapt.in_background import REPLACE
from ui.storage import StoredRun
from ui.train.presets import CONFIGS, LLAMA

TEXT = "".join(
    f"Schifffahrtsgesellschaft {n} und Donaudampfschifffahrt im <b>Kubernetes</b> Cluster\n"
    for n in range(400)
)
TERMS = (
    "Donaudampfschifffahrt\n\n  Kubernetes\nDonaudampfschifffahrt\nZwei Worte\n<img src=x>\n und"
)


def open_form(open_app: OpenApp, n_tokens: int = 30) -> AppTest:
    app = open_app("adapt")
    paste(app, TEXT)
    return app.number_input(key="adapt_tokens").set_value(float(n_tokens)).run()


def new_tokens(stored: StoredRun) -> set[bytes]:
    return {stored.run.tokenizer.vocab[id] for id in stored.run.new_tokens}


def test_terms_are_tokens_first_and_their_price_is_told(open_app: OpenApp) -> None:
    app = open_form(open_app)
    app.text_area(key="adapt_terms").set_value(TERMS).run()
    assert "1 line that repeats a term" in app.warning[0].value
    assert "5 terms are tried first" in unescaped_text(app)
    stored = run_extension(app)
    costs = {cost.term: cost for cost in stored.run.terms}
    assert costs["Donaudampfschifffahrt"].token == b" Donaudampfschifffahrt"
    assert costs["Kubernetes"].token == b"Kubernetes"
    cost = costs["Kubernetes"]
    rows = sent_table(app, "What each term cost")["rows"]
    (figures,) = (figures for name, figures, _ in rows if name == "Kubernetes")
    assert figures == [f"{n:,}" for n in (cost.tokens_added, cost.tokens_saved, cost.occurrences)]
    assert "3 of 5 terms are one token." in unescaped_text(app)
    assert "“Zwei Worte”. The pre-tokenizer cuts it into 2 words" in unescaped_text(app)
    shown = page_text(app)
    assert "<img" in shown
    assert not re.search(r"(?<!\\)<img", shown)


@pytest.mark.slow
def test_a_reload_during_an_extension_fills_terms_and_size(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_back(monkeypatch) as reached:
        app = open_form(open_app, 37)
        app.text_area(key="adapt_terms").set_value("Kubernetes\nZookeeper").run()
        app.button(key="extend").click().run()
        assert reached.wait(MAX_WAIT_SECONDS)
        # The browser writes the number into the address.
        again = open_app("adapt", **read_query(app), adapt_tokens="37")
        assert again.text_area(key="adapt_terms").value == "Kubernetes\nZookeeper"
        assert again.number_input(key="adapt_tokens").value == 37
        assert again.button(key="extend").disabled


def test_a_token_is_left_out_and_another_pinned_in_a_second_extension(open_app: OpenApp) -> None:
    app, first = open_extended(open_app, TEXT, ("Kubernetes", "Zwei Worte"))
    assert app.button(key="extend_again").disabled
    merges = first.run.merges
    vocab = first.run.tokenizer.vocab
    unwanted = vocab[merges[first.run.n_term_merges].id]
    wanted = vocab[merges[-1].id]
    app.multiselect(key=f"adapt_leave_out_{first.id}").set_value([unwanted.hex()]).run()
    app.multiselect(key=f"adapt_pin_{first.id}").set_value([wanted.hex()]).run()
    app.text_input(key="adapt_search").set_value("Kuber").run()
    assert app.multiselect(key=f"adapt_pin_{first.id}").value == [wanted.hex()]
    app.text_input(key="adapt_search").set_value("").run()
    second = run_extension(app, "extend_again")
    assert second.id != first.id
    assert second.run.base == gpt2()
    assert second.run.left_out == (unwanted,)
    assert [cost.term for cost in second.run.terms] == ["Kubernetes", "Zwei Worte", wanted]
    assert unwanted not in new_tokens(second)
    assert wanted in new_tokens(second)
    assert len(second.run.merges) == 12
    # The second run opens with the choices that it was made with.
    assert app.multiselect(key=f"adapt_leave_out_{second.id}").value == [unwanted.hex()]
    assert app.multiselect(key=f"adapt_pin_{second.id}").value == [wanted.hex()]
    assert not app.button(key="extend_again").disabled
    # So does a link to it.
    again = open_app("adapt", run=second.id)
    assert again.text_area(key="adapt_terms").value == "Kubernetes\nZwei Worte"
    assert again.number_input(key="adapt_tokens").value == 12
    assert again.multiselect(key=f"adapt_leave_out_{second.id}").value == [unwanted.hex()]


def test_what_is_left_out_and_pinned_at_once_is_said_and_so_is_a_missing_corpus(
    open_app: OpenApp,
) -> None:
    app, first = open_extended(open_app, TEXT)
    assert "Domain terms" not in [header.value for header in app.header]
    token = first.run.tokenizer.vocab[first.run.merges[-1].id]
    app.multiselect(key=f"adapt_pin_{first.id}").set_value([token.hex()]).run()
    app.text_area(key="corpus_pasted").set_value("").run()
    app.button(key="extend_again").click().run()
    assert "Extending again needs a base, a corpus" in app.error[0].value
    assert "job" not in app.query_params
    app.text_area(key="corpus_pasted").set_value(TEXT).run()
    assert not app.error
    app.multiselect(key=f"adapt_leave_out_{first.id}").set_value([token.hex()]).run()
    assert "Both left out and pinned" in app.warning[0].value
    second = run_extension(app, "extend_again")
    assert second.run.terms[0].reason == "It is among the tokens to leave out."
    assert token not in new_tokens(second)


def test_hostile_terms_do_not_break_the_page(open_app: OpenApp) -> None:
    terms = "\ufeff\u202e\0x\n" + "y" * 300 + "\n[x](http://y)\n$a$\n**b**"
    app = open_form(open_app, 3)
    app.text_area(key="adapt_terms").set_value(terms).run()
    run_extension(app)
    shown = page_text(app)
    assert "\u202e" not in shown
    assert "](http" not in shown
    assert "**b**”" not in shown


JAPANESE = "".join(f"東京都庁と京都市役所 hugs {n}\n" for n in range(400))
CHARACTERS = {*"東京都庁と市役所"}


@cache
def base() -> bpe.Tokenizer:
    """Return a small tokenizer like Llama 2's, whose text had no Japanese."""
    return bpe.train(
        ["the hugs of a pug 0123456789\n" * 9], replace(CONFIGS[LLAMA], vocab_size=300)
    ).tokenizer


def open_base(open_app: OpenApp, mode: str = "Extend") -> AppTest:
    """Open Adapt on a model file of the base, with a text pasted."""
    return open_with_base(open_app, dumps(base(), "sentencepiece"), mode, JAPANESE)


def extend(app: AppTest, n_tokens: int) -> StoredRun:
    app.number_input(key="adapt_tokens").set_value(float(n_tokens)).run()
    return run_extension(app)


def count_new(app: AppTest) -> int:
    return sum(n for n, _ in read_kinds(app).values() if n > 0)


def test_characters_are_among_the_new_tokens_of_all_figures(open_app: OpenApp) -> None:
    app = open_base(open_app)
    assert app.number_input(key="adapt_coverage").value == DEFAULT_COVERAGE
    stored = extend(app, 12)
    run = stored.run
    vocab = run.tokenizer.vocab
    new = [vocab[id].decode() for id in run.new_ids]
    assert (len(new), {*new[:8]}, len(run.merges)) == (12, CHARACTERS, 4)
    counts = [count_with_missing(run.with_new_tokens(kept), stored.held_out) for kept in range(13)]
    assert counts[0] == count_with_missing(base(), stored.held_out)
    fewer = [100 * (1 - count / counts[0]) for count in counts]
    assert f"With 12 new tokens, held-out text takes {fewer[12]:.1f}%" in read_verdict(app)
    assert f"{counts[0]:,} → {counts[12]:,} tokens" in read_verdict(app)
    assert "8 new characters and 4 merges after those of the base" in unescaped_text(app)
    assert count_new(app) == 12
    slider = app.slider(key=f"tokens_kept_{stored.id}")
    assert slider.max == 12
    slider.set_value(5).run()
    assert metrics(app)["Next 7 tokens"] == f"{fewer[12] - fewer[5]:.2f}%"
    shown = f"Tokens added **5** :gray[of 12, {base().vocab_size + 5:,} in all]"
    assert shown in unescaped_text(app)
    assert count_new(app) == 5
    rows = sent_table(app, "New tokens and the tokens they replace")["rows"]
    assert [row[0] for row in rows] == new[:5]


def test_the_written_model_has_the_characters_of_the_cut(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Mapping[str, bytes]] = []
    without = result_parts.without_folders

    def note(files: Mapping[str, bytes]) -> dict[str, bytes]:
        written.append(files)
        return without(files)

    monkeypatch.setattr(result_parts, "without_folders", note)
    app = open_base(open_app)
    stored = extend(app, 12)
    app.slider(key=f"tokens_kept_{stored.id}").set_value(5).run()
    for files, n_new in zip(written, (12, 5), strict=True):
        (model,) = files.values()
        library = SentencePieceProcessor()
        library.LoadFromSerializedProto(model)  # pyright: ignore[reportUnknownMemberType]
        assert library.vocab_size() == base().vocab_size + n_new
        expected = stored.run.with_new_tokens(n_new).encode("東京都庁 hugs")
        assert library.encode("東京都庁 hugs") == expected


def test_a_share_of_0_adds_no_characters(open_app: OpenApp) -> None:
    app = open_base(open_app)
    app.number_input(key="adapt_coverage").set_value(0.0).run()
    run = extend(app, 3).run
    assert run.continues is not None
    assert not run.continues.characters
    again = open_app("adapt", run=in_address(app, "run"))
    assert again.number_input(key="adapt_coverage").value == 0


def test_a_run_of_characters_alone_is_shown(open_app: OpenApp) -> None:
    app = open_base(open_app)
    stored = extend(app, 4)
    assert not stored.run.merges
    assert "With 4 new tokens" in read_verdict(app)
    assert count_new(app) == 4
    for page in ("merge_loop", "pair_frequencies", "compare", "vocabulary"):
        assert not open_app(page, run=stored.id).exception


def test_terms_count_their_characters(open_app: OpenApp) -> None:
    app = open_base(open_app)
    app.text_area(key="adapt_terms").set_value("京都").run()
    (cost,) = extend(app, 12).run.terms
    assert (cost.token, cost.characters_added, cost.tokens_added) == ("京都".encode(), 2, 1)
    assert "Together they took 3 new tokens, and their merges save" in unescaped_text(app)
    (row,) = sent_table(app, "What each term cost")["rows"]
    assert row[1][0] == "3"


@pytest.mark.slow
def test_replaced_tokens_are_characters_too(open_app: OpenApp) -> None:
    app = open_base(open_app, "Replace")
    app.number_input(key="replace_tokens").set_value(10.0).run()
    assert app.number_input(key="replace_coverage").value == DEFAULT_COVERAGE
    app.button(key="replace").click().run()
    found = wait_until(OfKind(REPLACE), known_work(REPLACE)).result
    assert found is not None
    app.run()
    assert {*found.sizes[-1].characters} == CHARACTERS
    adapted = found.adapted.tokenizer
    assert adapted.vocab_size == base().vocab_size
    new = [adapted.vocab[id].decode() for id in sorted(adapted.vocab)[-10:]]
    assert {*new[:8]} == CHARACTERS
    rows = sent_table(app, "New tokens and the tokens they replace")["rows"]
    assert [row[0].replace("␣", " ") for row in rows] == new
    assert count_new(app) == 10
    saved = sum(tokens for _, tokens in read_kinds(app).values())
    assert saved == found.judged.tokens[0] - found.judged.tokens[-1]
    assert found.judged.tokens[-1] < found.judged.tokens[0]
