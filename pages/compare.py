"""Compare: one text under several tokenizers, where they differ, and their figures."""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.compare import (
    SAMPLE_OF,
    ComparedText,
    Evaluation,
    choose_evaluation,
    compare_on,
    costs_part,
    differences_part,
    figures_part,
    languages_part,
    method_line,
    parts_part,
    passage_part,
    record_button,
    structure_section,
    terms_part,
    verdict_part,
    whole_text_card,
)
from ui.shell import choose_part, frame, workspace
from ui.storage import StoredRun
from ui.tokenizers import Member, add_button, draw_shelf_problems, shelf

# The query parameters of each part, which lead to it in a link that names none.
PARTS: Final[Mapping[str, Sequence[str]]] = {
    "Verdict": (),
    "Passage": ("word",),
    "What differs": ("differs_from",),
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
        linked = [part for part, names in PARTS.items() if workspace.has_query(*names)]
        part = choose_part(list(PARTS), next(iter(linked), None))
        st.space("stretch")
        room = st.container(width="content")
    members = shelf.members(stored)
    draw_shelf_problems()
    if len(members) < 2:
        st.info("Nothing to compare with yet. Add a tokenizer.")
        add_button(stored)
    elif part == "What differs":
        differences_part(members)
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
        structure_section(members)
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
            record_button(stored, compared, judged, evaluation, members)
    if compared is not None and judged is not None:
        parts_part(compared, judged, members)


frame.show_page(compare, "Compare")
