"""Compare: one text under several tokenizers, where they differ, and their figures."""

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import BpeError
from ui.compare import readings
from ui.compare.figures_part import figures_part, verdict_part
from ui.compare.languages import languages_part
from ui.compare.passage import FIRST_TEXT, passage_part
from ui.compare.report_button import report_button
from ui.compare.shelf_form import choose_tokenizers
from ui.look.glossary import explain
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
    corpus, where = stored.held_out, "held-out text"
    if not corpus.n_bytes:
        corpus, where = Corpus.from_text(typed) if typed else corpus, "your text"
    comparison = None
    with verdict_room:
        if not stored.held_out.n_bytes:
            st.info("This run has no held-out text, so the figures are for your text.")
        if corpus.n_bytes:
            comparison = readings.compare_on(corpus, [member.encoder for member in members])
            verdict_part(comparison, members, where)
    st.space("small")
    passage = passage_part(members, stored, typed, comparison)
    report_room = None
    if comparison is not None:
        st.divider()
        report_room = figures_part(comparison, members, where)
    st.divider()
    languages = languages_part(members)
    if report_room is not None:
        report_button(report_room, stored, corpus, where, members, passage, languages)


shown = frame.page_frame(
    "Compare",
    "The same text under your tokenizer and others. Rings mark where they differ.",
    help=explain("Token", "Held-out text"),
)
if shown is not None:
    try:
        compare(shown)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
