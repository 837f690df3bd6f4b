"""Languages on Compare: the sample on opening, uploaded sentences, and errors."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from bpe_core.corpus.samples import parallel_texts
from bpe_core.tokenizer.gpt2 import gpt2
from tests.app.pages import OpenApp, all_sent, in_address, page_text, press
from tests.language_costs import compare_languages
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

HOSTILE = "English\t<img src=x onerror=alert(1)>\nGood morning.\tЙо **x** $y$\n".encode()


def tables(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the figure tables by their captions."""
    return {d["caption"]: d for d in all_sent(app) if "caption" in d}


def upload(app: AppTest, name: str, data: bytes) -> None:
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
    upload(app, "mine.tsv", HOSTILE)
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
    upload(app, "bad.csv", b"A,B\nx\n")
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
