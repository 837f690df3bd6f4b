"""Draw the state of a measurement: its button, its progress, or why it has no result."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from bpe_core.lab.measurements import LabOrder, Results
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.host.error_boundary import fragment
from ui.lab import measurements
from ui.lab.measurements import MeasurementStatus, start_measurement
from ui.lab.words import encoder_title
from ui.look.labels import file_stem, plain_markdown
from ui.work.background_card import SECONDS_BETWEEN_LOOKS


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


@fragment(run_every=SECONDS_BETWEEN_LOOKS)
def watch_measurement(id: str, *, key: str, can_cancel: bool = True) -> None:
    """Draw a live measurement, updated twice a second; rerun the page once it has ended."""
    status = measurements.manager().status(id)
    if not status.is_live:
        st.rerun()
    with st.container(border=True, key=f"{key}_card"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Measuring**", width="content")
            st.space("stretch")
            if can_cancel:
                cancel = measurements.manager().cancel
                st.button("Cancel", on_click=cancel, args=(id,), key=f"{key}_cancel")
        st.progress(status.share)
        st.markdown(how_far(status))
        st.markdown(f":gray[{plain_markdown(status.about, 200)}]")


def how_far(status: MeasurementStatus) -> str:
    """Return the progress of a live measurement as a sentence or two."""
    progress = status.progress
    if status.state == "queued":
        one = status.n_ahead == 1
        return f"Waiting: {status.n_ahead:,} measurement{'' if one else 's'} before this one."
    if progress is None:
        return "Starting the measuring process."
    if progress.seconds_compiling is not None:
        seconds = progress.seconds_compiling
        return f"Compiling the engine, once on this machine: {seconds:.0f} s so far."
    name = encoder_title(progress.name)
    left = _time_left(progress.seconds_left, status.seconds_since_report)
    now = f" Now: {name}." if name else ""
    return f"Step {progress.done:,} of {progress.of:,}, {left}.{now}"


def _time_left(seconds: float | None, seconds_since_report: float) -> str:
    # The share of steps done is not an estimate, since steps take very different times.
    if seconds is None:
        return "time left unknown"
    left = seconds - seconds_since_report
    if left >= 0.5:
        return f"about {left:,.0f} s left"
    return "nearly done" if left > -1 else "longer than estimated"
