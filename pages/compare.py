"""Compare: one text under several tokenizers, where they differ, and their figures."""

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import BpeError
from ui.compare.compared import compare_on
from ui.compare.costs_part import costs_part
from ui.compare.figures_part import figures_part
from ui.compare.gain_words import HELD_OUT, SAMPLE_OF
from ui.compare.languages import languages_part
from ui.compare.passage import FIRST_TEXT, passage_part
from ui.compare.report_button import report_button
from ui.compare.shelf_form import choose_tokenizers
from ui.compare.terms_part import terms_part
from ui.compare.verdict_part import verdict_part
from ui.look.labels import plain_markdown
from ui.own_text.field import own_text
from ui.shell import frame
from ui.storage.run_store import StoredRun


def compare(stored: StoredRun) -> None:
    verdict_room = st.container()
    members = choose_tokenizers(stored)
    typed = own_text(FIRST_TEXT)
    if len(members) < 2:
        st.info("Nothing to compare with yet. Add a tokenizer above.")
        return
    corpus, where = stored.held_out, HELD_OUT
    if not corpus.n_bytes:
        corpus, where = Corpus.from_text(typed) if typed else corpus, "your text"
    compared = comparison = None
    is_placeholder = where == "your text" and typed == FIRST_TEXT
    where = "the example text" if is_placeholder else where
    with verdict_room:
        if not stored.held_out.n_bytes:
            st.info("This run has no held-out text, so the figures are for the text below.")
        if corpus.n_bytes:
            compared = compare_on(corpus, [member.encoder for member in members])
            comparison = compared.comparison
            where = where if compared.is_whole else f"{SAMPLE_OF}{where}"
            verdict_part(compared, members, where, is_placeholder=is_placeholder)
    st.space("small")
    passage = passage_part(members, stored, typed, comparison)
    report_room = costs = None
    if comparison is not None:
        st.divider()
        report_room = figures_part(comparison, members, where)
        st.divider()
        costs = costs_part(comparison, members, stored, where)
    st.divider()
    terms = terms_part(members)
    st.divider()
    languages = languages_part(members)
    if report_room is not None and compared is not None:
        report_button(
            *(report_room, stored, compared, where, members, passage, languages),
            is_placeholder=is_placeholder,
            costs=costs,
            terms=terms,
        )


shown = frame.page_frame(
    "Compare",
    "The same text under your tokenizer and others. Rings mark where they differ.",
)
if shown is not None:
    try:
        compare(shown)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
