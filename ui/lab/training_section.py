"""Draw the measurement of trainers on growing texts."""

from __future__ import annotations

import streamlit as st

from bpe_core.lab.measurements import N_MERGES, SMALL_TRAINING_CHARACTERS, Order
from ui.components.figures import figure_table, verdict
from ui.lab import charts, words
from ui.lab.measurements import MeasurementStatus
from ui.lab.outcome import draw_heading, draw_small_state, draw_state, offer_png
from ui.look.chart_style import CONFIG
from ui.shell import frame

_EMPTY = (
    "The readable reference, the engine and Hugging Face’s trainer learn the same "
    f"{N_MERGES:,} merges from longer and longer beginnings of this text."
)


_BUTTON = "Measure trainers"
_SMALL = (
    f"The first {SMALL_TRAINING_CHARACTERS:,} characters at most. “{_BUTTON}” continues to the "
    "whole text."
)


def draw_training(
    status: MeasurementStatus | None, small: MeasurementStatus | None, order: Order, about: str
) -> None:
    """Draw the visitor's measurement of trainers, or the small one if there is none."""
    draw_heading("Training", _BUTTON, status, order, about)
    if status is None and small is not None:
        report = draw_small_state(small, key="small_training", empty=_EMPTY, what=_SMALL)
        status = small
    else:
        report = draw_state(status, order, _EMPTY)
    if status is None or report is None:
        return
    found = report.training
    verdict(
        words.training_sentence(found),
        f"{status.about}. {words.training_aside(found, N_MERGES)}",
        key="training_verdict",
    )
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            charts.growth_curves(
                words.growth_by_name(found), own="Engine", theme=frame.theme_type()
            ),
            theme=None,
            config=CONFIG,
            key="training_chart",
            alt="Seconds to train over bytes of text, as in the table next to it.",
        )
        offer_png("training_chart", "Seconds to train over bytes of text", status.about)
    with table:
        columns, rows = words.training_rows(found)
        st.markdown(":gray[Seconds. The dot marks the fastest.]")
        figure_table(columns, rows, caption="Seconds to train, by size", key="training_table")
