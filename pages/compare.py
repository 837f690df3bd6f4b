"""Compare: one text under several tokenizers, where they differ, and their figures."""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.compare.compared import ComparedText, compare_on, whole_text_card
from ui.compare.costs_part import costs_part
from ui.compare.evaluation import Evaluation, choose_evaluation
from ui.compare.figures_part import figures_part
from ui.compare.languages import languages_part
from ui.compare.passage import passage_part
from ui.compare.report import report_button
from ui.compare.terms_part import terms_part
from ui.compare.verdict_part import method_line, parts_part, verdict_part
from ui.compare.verdict_words import SAMPLE_OF
from ui.shell import address, frame
from ui.shell.form_fields import choose_part
from ui.storage.run_store import StoredRun
from ui.tokenizers import shelf
from ui.tokenizers.additions import add_button
from ui.tokenizers.choice import draw_shelf_problems
from ui.tokenizers.shelf import Member

# The query parameters of each part, which lead to it in a link that names none.
PARTS: Final[Mapping[str, Sequence[str]]] = {
    "Verdict": (),
    "Passage": ("word",),
    "Figures": (),
    "Terms and cost": (
        "terms",
        "terms_id",
        "terms_form",
        "terms_of",
        "price",
        "width",
        "window",
    ),
    "Languages": ("sentences", "reference", "measure"),
}


def compare(stored: StoredRun) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        linked = [part for part, names in PARTS.items() if address.has_query(*names)]
        part = choose_part(list(PARTS), next(iter(linked), None))
        st.space("stretch")
        room = st.container(width="content")
    members = shelf.members(stored)
    draw_shelf_problems()
    if len(members) < 2:
        st.info("Nothing to compare with yet. Add a tokenizer.")
        add_button(stored)
    elif part == "Languages":
        languages_part(stored, members)
    else:
        compare_text(stored, members, part, room)


def compare_text(
    stored: StoredRun, members: Sequence[Member], part: str, room: DeltaGenerator
) -> None:
    evaluation = choose_evaluation(stored, room)
    where, compared = evaluation.where, None
    if evaluation.corpus.n_bytes:
        compared = compare_on(evaluation.corpus, [member.encoder for member in members])
        if compared.pending is not None:
            where = f"{SAMPLE_OF}{where}"
            whole_text_card(compared.pending)
    comparison = None if compared is None else compared.comparison
    if part == "Verdict":
        judge(stored, members, evaluation, compared, where)
        return
    if part == "Passage":
        passage_part(stored, members, evaluation, comparison)
    elif part == "Figures" and compared is not None:
        figures_part(stored, compared, members, where)
    elif part == "Terms and cost":
        terms_part(members)
        if comparison is not None:
            costs_part(comparison, members, stored, where)


def judge(
    stored: StoredRun,
    members: Sequence[Member],
    evaluation: Evaluation,
    compared: ComparedText | None,
    where: str,
) -> None:
    judged = verdict_part(
        stored, compared, members, where, is_placeholder=evaluation.is_placeholder
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if compared is not None:
            method_line(compared)
        st.space("stretch")
        add_button(stored)
        if compared is not None and judged is not None:
            report_button(stored, compared, judged, evaluation, members)
    if compared is not None and judged is not None:
        parts_part(compared, judged, members)


frame.show_page(compare, "Compare")
