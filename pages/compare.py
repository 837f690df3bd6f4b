"""Compare: one text under several tokenizers, where they differ, and their figures."""

import streamlit as st

from bpe_core.errors import BpeError
from ui.compare.compared import compare_on
from ui.compare.costs_part import costs_part
from ui.compare.evaluation import choose_evaluation
from ui.compare.figures_part import figures_part
from ui.compare.gain_words import SAMPLE_OF
from ui.compare.languages import languages_part
from ui.compare.passage import passage_part
from ui.compare.report_button import report_button
from ui.compare.shelf_form import choose_tokenizers
from ui.compare.terms_part import terms_part
from ui.compare.verdict_part import verdict_part
from ui.look.labels import plain_markdown
from ui.shell import frame
from ui.storage.run_store import StoredRun


def compare(stored: StoredRun) -> None:
    evaluation_room, verdict_room = st.container(), st.container()
    members = choose_tokenizers(stored)
    if len(members) < 2:
        st.info("Nothing to compare with yet. Add a tokenizer above.")
        return
    with evaluation_room:
        evaluation = choose_evaluation(stored)
    where, is_placeholder = evaluation.where, evaluation.is_placeholder
    compared = comparison = judged = None
    if evaluation.corpus.n_bytes:
        with verdict_room:
            compared = compare_on(evaluation.corpus, [member.encoder for member in members])
            comparison = compared.comparison
            where = where if compared.is_whole else f"{SAMPLE_OF}{where}"
            judged = verdict_part(stored, compared, members, where, is_placeholder=is_placeholder)
    st.space("small")
    passage = passage_part(members, evaluation, comparison)
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
    if report_room is not None and compared is not None and judged is not None:
        report_button(
            report_room,
            stored,
            compared,
            judged,
            where,
            members,
            passage,
            languages,
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
