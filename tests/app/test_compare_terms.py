"""Terms and Languages on Compare: the samples on opening, own lists and sentences, and errors."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.comparison import Terms
from bpe_core.comparison.cuts import MAX_TERMS
from bpe_core.corpus import parallel_texts
from bpe_core.tokenizer import gpt2
from tests.app.pages import OpenApp, all_sent, in_address, page_text, press, sent_table, upload
from tests.language_costs import compare_languages
from ui.compare.terms import FIRST_TERMS
from ui.storage import SAMPLE_RUN_ID, load_run

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
    cuts = [[cut.in_text for cut in Terms(tuple(terms)).cut(encoder)] for encoder in (own, gpt2())]
    found = Terms(tuple(terms)).by_loss(cuts)
    rows = table(app)["rows"]
    assert [row[0] for row in rows] == [each.term for each in found]
    assert [[cell[0] for cell in row[2]] for row in rows] == [
        [str(cut.n_tokens) for cut in each.cuts] for each in found
    ]
    assert [row[2][1][3] for row in rows] == [gpt2().encode(f" {each.term}") for each in found]
    n = sum(cut.is_one_token for cut in cuts[0])
    assert f"{n} of 10 terms {'is' if n == 1 else 'are'} one token with the example" in page_text(
        app
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
        [cut.alone for cut in Terms(("hugging", "the")).cut(encoder)]
        for encoder in (load_run(SAMPLE_RUN_ID).run.tokenizer, gpt2())
    ]
    found = Terms(("hugging", "the")).by_loss(cuts, chosen=1)
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


HOSTILE_SENTENCES = "English\t<img src=x onerror=alert(1)>\nGood morning.\tЙо **x** $y$\n".encode()


def tables(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the figure tables by their captions."""
    return {d["caption"]: d for d in all_sent(app) if "caption" in d}


def upload_sentences(app: AppTest, name: str, data: bytes) -> None:
    app.file_uploader(key="parallel_upload").set_value([(name, data, "text/plain")]).run()
    app.button(key="own_sentences").click().run()


def test_the_sample_is_compared_on_opening_with_figures_that_match_the_core(
    open_app: OpenApp,
) -> None:
    app = open_app("compare", part="Languages")
    own = load_run(SAMPLE_RUN_ID).run.tokenizer
    costs = compare_languages(parallel_texts(), [own, gpt2()], "English")
    gini = next(row for row in tables(app)["Fairness"]["rows"] if row[0] == "Gini coefficient")
    assert gini[1] == [f"{one.gini:.3f}" for one in costs]
    rows = tables(app)["Parity of every language"]["rows"]
    assert [row[0] for row in rows] == [text.name for text in parallel_texts()]
    assert rows[6][1] == [f"{one.parity[6]:.2f}" for one in costs]


def test_another_reference_and_measure_are_shown(open_app: OpenApp) -> None:
    app = open_app("compare", measure="Tokens per word", reference="Thai")
    assert "Tokens per word of every language" in tables(app)
    own = load_run(SAMPLE_RUN_ID).run.tokenizer
    costs = compare_languages(parallel_texts(), [own, gpt2()], "Thai")
    mean = next(row for row in tables(app)["Fairness"]["rows"] if row[0] == "Mean parity")
    assert mean[1] == [f"{one.mean_parity:.2f}" for one in costs]


def test_uploaded_sentences_replace_the_sample_and_survive_a_refresh(open_app: OpenApp) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    app = open_app("compare", part="Languages")
    upload_sentences(app, "mine.tsv", HOSTILE_SENTENCES)
    assert not app.error
    names = [row[0] for row in tables(app)["Parity of every language"]["rows"]]
    assert names == ["English", hostile]
    app.selectbox(key="reference").set_value(hostile).run()
    assert page_text(app).count("<img") == page_text(app).count("\\<img") > 0
    chosen = app.selectbox(key="reference").value
    again = open_app("compare", sentences=in_address(app, "sentences"), reference=chosen)
    assert not again.error
    assert tables(again)["Fairness"] == tables(app)["Fairness"]
    assert again.selectbox(key="reference").value == chosen
    upload_sentences(app, "bad.csv", b"A,B\nx\n")
    assert "has 1 cells" in app.error[0].value
    assert len(tables(app)["Parity of every language"]["rows"]) == 2
    press(app, "Back to the sample")
    assert len(tables(app)["Parity of every language"]["rows"]) == len(parallel_texts())
    # A language that is not in these sentences is ignored.
    assert open_app("compare", reference="Thai<b>").selectbox(key="reference").value == "English"


def test_missing_sentences_are_reported_and_the_sample_is_compared(open_app: OpenApp) -> None:
    app = open_app("compare", sentences="a" * 32)
    assert "The sample is used instead" in app.error[0].value
    assert len(tables(app)["Parity of every language"]["rows"]) == len(parallel_texts())
