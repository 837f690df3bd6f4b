"""Draw the run picker, and label the runs that a visitor can choose from."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import streamlit as st

from bpe_core.errors import BpeError
from ui.look.run_names import RunName, run_labels
from ui.shell import workspace
from ui.shell.recent_runs import RecentRuns, forget_other_runs
from ui.storage.run_store import SAMPLE_RUN_ID, StoredRun, load_run

_FAILURE_WIDTH = 420


def run_picker(stored: StoredRun) -> str | None:
    """Draw the picker, labelled with the current run; return the id of the run just picked."""
    labels = visitor_run_labels(stored)
    return st.menu_button(
        f"Run: {labels[stored.id]}",
        list(labels),
        format_func=lambda run_id: labels[run_id],
        key="run_picker",
        help="The run that all pages show. A page’s address includes its run, so it can be shared.",
        wrap=True,
    )


def has_one_run(stored: StoredRun) -> bool:
    """Return whether the visitor can choose no other run than the sample, which is shown."""
    return stored.id == SAMPLE_RUN_ID and not workspace.get(RecentRuns).names


def draw_picker_failure(message: str) -> None:
    """Draw an error in place of the picker, with a button that empties the list."""
    with st.container(width=_FAILURE_WIDTH):
        st.error(f"{message} The page still shows its run.")
        st.button("Empty the list", on_click=forget_other_runs, key="empty_runs")


def visitor_run_labels(stored: StoredRun) -> dict[str, str]:
    """Return the Markdown labels of this visitor's runs by id, the sample first.

    The current run, `stored`, is among them.
    """
    sample = _sample_name()
    names = {} if sample is None else {sample.id: sample}
    names |= {name.id: name for name in (*workspace.get(RecentRuns).names, stored.name)}
    labels = run_labels(list(names.values()), _visitors_now())
    return dict(zip(names, labels, strict=True))


def _sample_name() -> RunName | None:
    """Return the name of the sample run; None if it cannot be read."""
    try:
        return load_run(SAMPLE_RUN_ID).name
    except BpeError:
        return None


def _visitors_now() -> datetime:
    """Return the time in the visitor's time zone, or in UTC if the browser names none."""
    name, offset = st.context.timezone, st.context.timezone_offset
    # The browser's name may be invalid or unknown to this machine.
    with suppress(KeyError, ValueError, OSError):
        return datetime.now(ZoneInfo(name or ""))
    with suppress(ValueError, OverflowError):
        return datetime.now(timezone(timedelta(minutes=-(offset or 0))))
    return datetime.now(UTC)
