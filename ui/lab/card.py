"""Draw the card of a live measurement: its progress, its place in the queue, a cancel button."""

from __future__ import annotations

import streamlit as st

from ui.host.error_boundary import fragment
from ui.lab import measurements
from ui.lab.measurements import MeasurementStatus
from ui.lab.words import encoder_title
from ui.look.labels import plain_markdown
from ui.work.background_card import SECONDS_BETWEEN_LOOKS


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
