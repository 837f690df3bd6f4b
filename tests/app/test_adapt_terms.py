"""Adapt: domain terms, and new tokens that are left out or pinned."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.tokenizer.gpt2 import gpt2
from tests.app.adapting import open_extended, run_extension
from tests.app.pages import OpenApp, in_address, page_text, paste, sent_table, unescaped_text
from tests.app.training import held_back
from ui.storage.run_store import StoredRun

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
    assert "“Zwei Worte”. The base’s pre-tokenizer cuts it into 2 words" in unescaped_text(app)
    shown = page_text(app)
    assert "<img" in shown
    assert not re.search(r"(?<!\\)<img", shown)


@pytest.mark.slow
def test_a_reload_during_an_extension_fills_terms_and_size(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_back(monkeypatch) as (_, reached):
        app = open_form(open_app, 37)
        app.text_area(key="adapt_terms").set_value("Kubernetes\nZookeeper").run()
        app.button(key="extend").click().run()
        assert reached.wait(60)
        again = open_app("adapt", job=in_address(app, "job"))
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
    third = run_extension(again, "extend_again")
    assert third.run.merges == second.run.merges


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
