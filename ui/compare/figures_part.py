"""Draw the tables and the chart of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.comparison.comparison import Comparison
from ui.compare.charts import kind_bars
from ui.compare.definitions import FIGURES, LANGUAGES, Definition
from ui.compare.figure_rows import figure_rows, shared_sentence, size_of
from ui.compare.gain_words import SAMPLE_OF
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.figures import figure_table
from ui.look.chart_style import CONFIG
from ui.shell import frame
from ui.tokenizers.shelf import Member

_MOST_BESIDE_CHART = 4
_KINDS = ("words and numbers", "punctuation", "white space")


def figures_part(comparison: Comparison, members: Sequence[Member], where: str) -> DeltaGenerator:
    """Draw the figures, and return the place for the report button."""
    names = [member.name for member in members]
    if len(members) > _MOST_BESIDE_CHART:
        left, right = st.container(), st.container()
    else:
        left, right = st.columns([3, 2] if len(members) > 2 else 2, gap="large")
    with left:
        whole = "" if where.startswith(SAMPLE_OF) else "all "
        st.header(f"On {whole}{where}", anchor=False)
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
        figure = kind_bars(_KINDS, list(zip(names, kinds, strict=True)), theme=frame.theme_type())
        st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_kinds")
        picture = ChartPicture(
            "compare_kinds", "PNG", "Where the tokens go", f"On {whole}{where}", "token-kinds.png"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            report_room = st.container(width="content")
            chart_pictures([picture], key="compare_kinds_picture")
    with st.expander("What the figures mean"):
        _definitions((*FIGURES, *LANGUAGES))
    return report_room


def _definitions(listed: Sequence[Definition]) -> None:
    for name, meaning, source in listed:
        st.markdown(f"**{name}.** {meaning}{f' :gray[{source}.]' if source else ''}")
