"""Draw the figures of a comparison: the verdict on top, and the tables below."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.comparison.comparison import Comparison
from ui.compare import charts
from ui.compare.definitions import FIGURES, LANGUAGES, Definition
from ui.compare.verdict import (
    Sentence,
    figure_rows,
    others_aside,
    shared_sentence,
    size_of,
    verdict_aside,
    verdict_sentence,
)
from ui.components.figures import figure_table, verdict
from ui.look.chart_style import CONFIG
from ui.shell import frame
from ui.tokenizers.shelf import Member

_MOST_BESIDE_CHART = 4
_KINDS = ("words and numbers", "punctuation", "white space")


def verdict_part(comparison: Comparison, members: Sequence[Member], where: str) -> None:
    """Draw the verdict on top of the page."""
    verdict(*verdict_words(comparison, members, where), key="compare_verdict")
    st.space("small")


def verdict_words(
    comparison: Comparison, members: Sequence[Member], where: str
) -> tuple[Sentence, str]:
    """Return a sentence on the run's tokenizer against the next one, and an aside on all."""
    names = [member.name for member in members]
    aside = [verdict_aside(comparison, other=names[1]), others_aside(comparison, names, 1)]
    return (
        verdict_sentence(comparison, f"On {where}", other=names[1]),
        " ".join(sentence for sentence in aside if sentence),
    )


def figures_part(comparison: Comparison, members: Sequence[Member], where: str) -> DeltaGenerator:
    """Draw the figures, and return the place for the report button."""
    names = [member.name for member in members]
    if len(members) > _MOST_BESIDE_CHART:
        left, right = st.container(), st.container()
    else:
        left, right = st.columns([3, 2] if len(members) > 2 else 2, gap="large")
    with left:
        st.header(f"On all {where}", anchor=False)
        st.markdown(f":gray[{size_of(comparison)}. The dot marks the best figure.]")
        figure_table(
            names,
            figure_rows(comparison),
            caption="Figures of the tokenizers",
            key="compare_figures",
        )
        st.markdown(f":gray[{shared_sentence(comparison)}]")
    with right:
        st.header("Where the tokens go", anchor=False)
        st.markdown(":gray[Tokens of the same text by kind.]")
        kinds = [tuple(row.kinds) for row in comparison.rows]
        figure = charts.kind_bars(
            _KINDS, list(zip(names, kinds, strict=True)), theme=frame.theme_type()
        )
        st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_kinds")
        report_room = st.container()
    with st.expander("What the figures mean"):
        _definitions((*FIGURES, *LANGUAGES))
    return report_room


def _definitions(listed: Sequence[Definition]) -> None:
    for name, meaning, source in listed:
        st.markdown(f"**{name}.** {meaning}{f' :gray[{source}.]' if source else ''}")
