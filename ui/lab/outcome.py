"""Draw the state of a measurement: its button, its progress, or why it has no result."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from bpe_core.lab.measurements import LabOrder, Results
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.lab.card import watch_measurement
from ui.lab.measurements import MeasurementStatus
from ui.lab.requests import start_measurement
from ui.look.labels import file_stem, plain_markdown


def draw_button(
    label: str,
    status: MeasurementStatus | None,
    order: LabOrder,
    about: str,
    *,
    type: Literal["primary", "secondary"] = "secondary",
) -> None:
    """Draw the button that starts a measurement."""
    is_busy = status is not None and status.is_live
    if st.button(label, type=type, disabled=is_busy or not order.text):
        start_measurement(order, about)


def draw_state(status: MeasurementStatus | None, order: LabOrder, empty: str) -> Results | None:
    """Draw the state of a measurement except its figures, and return the figures if there are any.

    `empty` describes the measurement before it is started.
    """
    if status is None:
        st.markdown(f":gray[{empty}]")
        return None
    if status.is_live:
        watch_measurement(status.id, key=order.kind)
    elif status.state == "cancelled":
        st.info("The measurement was cancelled, so there are no figures.")
    elif status.result is None:
        st.error(f"The measurement failed. {plain_markdown(status.problem or '', 600)}")
    else:
        if status.result.order != order.fingerprint:
            st.info(
                f"These figures are for **{plain_markdown(status.about, 200)}**, not for the "
                "current choice. Measure again to update them."
            )
        return status.result.results
    return None


def draw_small_state(
    small: MeasurementStatus, *, key: str, empty: str, what: str
) -> Results | None:
    """Draw the state of a measurement that started by itself, and return the figures if any.

    `what` is a tooltip on what it measured, and how to measure more.
    """
    if small.is_live:
        watch_measurement(small.id, key=key, can_cancel=False)
        return None
    if small.result is None:
        st.markdown(f":gray[{empty}]")
        return None
    st.markdown(":blue-badge[Small measurement] :gray[of the beginning]", help=what)
    return small.result.results


def offer_png(chart: str, title: str, about: str) -> None:
    """Draw a chart's download as a picture."""
    picture = ChartPicture(chart, "PNG", title, about, f"{file_stem(title)}.png")
    chart_pictures([picture], key=f"{chart}_picture")
