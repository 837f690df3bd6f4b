"""Draw the measurement of encoders: a small one that starts by itself, or the visitor's own."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.lab.measurements import SMALL_CHARACTERS, Order
from bpe_core.lab.measuring import Measured
from ui.components.figures import figure_table, verdict
from ui.lab import charts, words
from ui.lab.measurements import MeasurementStatus
from ui.lab.outcome import draw_heading, draw_small_state, draw_state, offer_png
from ui.look.chart_style import CONFIG
from ui.look.glossary import definitions
from ui.look.labels import plain_markdown
from ui.shell import frame

_EMPTY = (
    "Eight encoders are run on this text in turn, each for a few seconds at most, and their ids "
    "are compared. A slow encoder gets part of the text; the table shows how much."
)
_BUTTON = "Measure encoders"
_SMALL = (
    f"The first {SMALL_CHARACTERS:,} characters, with at most a tenth of a second per call. "
    f"“{_BUTTON}” uses the whole text."
)


def draw_encoding(
    status: MeasurementStatus | None, small: MeasurementStatus | None, order: Order, about: str
) -> None:
    """Draw the visitor's measurement, or the small one if there is none."""
    draw_heading("Encoding", _BUTTON, status, order, about, type="primary")
    if status is None and small is not None:
        report = draw_small_state(small, key="small_encoding", empty=_EMPTY, what=_SMALL)
        status = small
    else:
        report = draw_state(status, order, _EMPTY)
    if status is not None and report is not None:
        _draw_figures(report.encoding, status)


def _draw_figures(found: Sequence[Measured], status: MeasurementStatus) -> None:
    verdict(
        words.encoding_sentence(found),
        f"{status.about}. {words.encoding_aside(found, status.elapsed_seconds)}",
        key="encoding_verdict",
        terms=definitions("Merge", "Token"),
    )
    able = [one for one in found if one.problem is None]
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            charts.speed_dots(
                [words.encoder_title(one.name) for one in able],
                [one.megabytes_per_second for one in able],
                own=[one.name.startswith("engine") for one in able],
                exact=[one.is_equal for one in able],
                theme=frame.theme_type(),
            ),
            theme=None,
            config=CONFIG,
            key="encoding_chart",
            alt="Speed of each encoder in MB/s, as in the table next to it.",
        )
        st.markdown(":gray[A hollow dot marks different ids. The axis is logarithmic.]")
        offer_png("encoding_chart", "Speed of encoders in MB/s", status.about)
    with table:
        figure_table(
            ["MB/s", "× hash map", "of the text", "ids"],
            words.encoding_rows(found),
            caption="Encoders: speed, factor over the hash map, part of the text, same ids or not",
            key="encoding_table",
        )
    for one in found:
        if one.problem is not None:
            name = words.encoder_title(one.name)
            st.markdown(f":gray[{name}: {plain_markdown(one.problem, 400)}]")
    with st.expander("How each encoder works"):
        for encoder in words.ENCODER_WORDS.values():
            st.markdown(f"**{encoder.title}.** {encoder.explanation}")
        st.markdown(
            "The figures do not include the time to build tables or load kernels before the first "
            "text. On a new machine, the engine’s kernels are compiled first."
        )
