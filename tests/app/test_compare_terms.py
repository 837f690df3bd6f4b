"""A visitor's terms on Compare: the sample, their own list, its limits, and the address."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.comparison.terms import MAX_TERMS, cut_terms, terms_by_loss
from bpe_core.tokenizer.gpt2 import gpt2
from tests.app.pages import OpenApp, all_sent, in_address, page_text, sent_table, upload
from ui.compare.terms_part import FIRST_TERMS
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

HOSTILE = "<img src=x onerror=alert(1)>\n=cmd|' /C calc'!A0\n**bold** $y$\n\u202eevil"


def table(app: AppTest) -> dict[str, Any]:
    return sent_table(app, "Your terms")


def field(app: AppTest) -> str:
    [found] = [c["text"] for c in all_sent(app) if c.get("label") == "Your terms, one per line"]
    return found


def test_the_sample_is_cut_by_all_and_sorted_by_the_loss_of_your_tokenizer(
    open_app: OpenApp,
) -> None:
    app = open_app("compare", part="Terms and cost")
    terms = FIRST_TERMS.split("\n")
    own = load_run(SAMPLE_RUN_ID).run.tokenizer
    cuts = [[cut.in_text for cut in cut_terms(terms, encoder)] for encoder in (own, gpt2())]
    found = terms_by_loss(terms, cuts)
    rows = table(app)["rows"]
    assert [row[0] for row in rows] == [each.term for each in found]
    assert [[cell[0] for cell in row[2]] for row in rows] == [
        [str(cut.n_tokens) for cut in each.cuts] for each in found
    ]
    assert [row[2][1][3] for row in rows] == [gpt2().encode(f" {each.term}") for each in found]
    n = sum(cut.is_one_token for cut in cuts[0])
    assert (
        f"{n} of 10 terms {'is' if n == 1 else 'are'} one token with your tokenizer"
        in page_text(app)
    )
    assert "terms" not in app.query_params


def test_an_own_list_comes_from_the_address_and_is_shown_as_text(open_app: OpenApp) -> None:
    terms = f"hug\nhugging\nhug\n{HOSTILE}"
    app = open_app("compare", terms=terms)
    assert field(app) == in_address(app, "terms") == terms
    names = {row[0] for row in table(app)["rows"]}
    assert {"hug", "hugging", "<img src=x onerror=alert(1)>", "U+202Eevil"} <= names
    assert "<img" not in page_text(app)
    assert any("1 line that repeats a term" in warning.value for warning in app.warning)


def test_the_terms_can_be_encoded_alone_and_sorted_by_another_loss(open_app: OpenApp) -> None:
    app = open_app("compare", terms="hugging\nthe", terms_form="Alone", terms_of="GPT-2")
    cuts = [
        [cut.alone for cut in cut_terms(["hugging", "the"], encoder)]
        for encoder in (load_run(SAMPLE_RUN_ID).run.tokenizer, gpt2())
    ]
    found = terms_by_loss(["hugging", "the"], cuts, chosen=1)
    assert [row[0] for row in table(app)["rows"]] == [each.term for each in found]
    by_term = {row[0]: row[2][1][3] for row in table(app)["rows"]}
    assert by_term["hugging"] == gpt2().encode("hugging")


def test_a_long_list_from_a_file_is_kept_on_the_server(open_app: OpenApp) -> None:
    lines = [f"term {number}" for number in range(MAX_TERMS + 7)]
    app = open_app("compare", part="Terms and cost")
    upload(app, "terms_file", ("terms.txt", "\n".join(lines).encode()))
    assert any("7 terms after the first 2,000" in warning.value for warning in app.warning)
    assert len(table(app)["rows"]) == 500
    assert "The table holds the first 500 of 2,000 terms" in page_text(app)
    kept = in_address(app, "terms_id")
    again = open_app("compare", terms_id=kept)
    assert field(again) == "\n".join(lines)
    assert in_address(again, "terms_id") == kept


@pytest.mark.parametrize("terms_id", ["a" * 32, "../../etc"])
def test_an_unknown_id_shows_the_sample_and_says_so(open_app: OpenApp, terms_id: str) -> None:
    app = open_app("compare", terms_id=terms_id)
    assert field(app) == FIRST_TERMS
    assert any("kept" in w.value or "malformed" in w.value for w in app.warning)
    assert "terms_id" not in app.query_params


def test_a_file_that_is_not_a_list_of_terms_is_refused_and_loses_nothing(
    open_app: OpenApp,
) -> None:
    app = open_app("compare", terms="hug")
    for data, problem in (
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "PNG"),
        # Guessing the encoding of a large file would hold up all other visitors.
        (b"\xe9\xe8 \x81" * 3_000_000, "the limit for a list of terms is 8,000,000"),
    ):
        upload(app, "terms_file", ("a.png", data))
        assert any(problem in warning.value.replace("\\", "") for warning in app.warning)
        assert field(app) == "hug"
    upload(app, "terms_file", ("terms.txt", b"\n \n"))
    assert any("There are no terms yet" in info.value for info in app.info)
    assert not [c for c in all_sent(app) if c.get("caption") == "Your terms"]
