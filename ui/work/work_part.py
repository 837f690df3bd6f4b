"""Draw the button that begins work, how far the work is, or why it ended without a result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from ui.host import errors_shown, fragment
from ui.look import plain_markdown
from ui.work.background import Status, WorkKind, queue
from ui.work.jobs import duration


def begin_button(
    label: str, begin: Callable[[], None] | None, status: Status[Any, Any] | None, *, key: str
) -> None:
    """Draw the button that calls `begin`; without it, a press shows why nothing begins.

    `status` is that of the work if it was begun before.
    """
    # Never disabled: the browser sends what was typed last together with the press.
    if not st.button(label, type="primary", key=key):
        return
    if begin is None:
        st.markdown(f":orange[{_why_not(status)}]", width="content")
        return
    with errors_shown():
        begin()
        st.rerun()


def _why_not(status: Status[Any, Any] | None) -> str:
    if status is None:
        return "Complete the form first."
    return "This is running." if status.is_live else "This was computed: see the result."


def show_work(
    status: Status[Any, Any] | None,
    explain: Callable[[], None] = lambda: None,
    *,
    unit: str,
    what: str,
    key: str,
    written: Callable[[int], str] = "{:,}".format,
) -> None:
    """Draw what to expect before the work, its progress, or why it ended without a result.

    `unit` is the unit of progress, `written` formats a number of it, and `what` names the work in a
    sentence.
    """
    if status is None:
        explain()
    elif status.is_live:
        describe = partial(how_far, unit, written)
        watch_work(status.kind, status.id, describe, key=key)
    elif status.result is None:
        show_ended(status, what, key=key)


SECONDS_BETWEEN_LOOKS = 0.5


@fragment(run_every=SECONDS_BETWEEN_LOOKS)
def watch_work(
    kind: WorkKind[Any, Any],
    id: str,
    describe: Callable[[Status[Any, Any]], str],
    *,
    key: str,
    can_cancel: bool = True,
) -> None:
    """Redraw live work twice a second, and the whole page once it has ended.

    `describe` says how far it is, in Markdown. Visitors who ask for the same work share its id and
    wait together, so the help text says that Cancel ends it for all of them.
    """
    status = queue.status(kind, id)
    if not status.is_live:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_watched"):
        st.progress(status.share, describe(status))
        if can_cancel:
            st.button(
                "Cancel",
                on_click=queue.cancel,
                args=(kind, id),
                key=f"{key}_cancel",
                help="Cancels it for everyone who is waiting for it. Anyone can begin it again.",
            )


def show_ended(status: Status[Any, Any], what: str, *, key: str) -> None:
    """Report that work was cancelled or failed, and offer to begin it again."""
    if status.problem is not None:
        st.error(plain_markdown(f"The {what} failed. {status.problem}", 600))
    with st.container(horizontal=True, vertical_alignment="center"):
        if status.problem is None:
            by_whom = "by you or another visitor waiting for it"
            st.markdown(f":gray[The {what} was cancelled, {by_whom}.]", width="content")
        found = status.kind, status.id
        st.button("Begin again", on_click=queue.forget, args=found, key=f"{key}_again")


def how_far(unit: str, written: Callable[[int], str], status: Status[Any, Any]) -> str:
    """Return how far work is in its unit of progress, such as "Characters" or the file it reads.

    `written` formats a number of them.
    """
    if status.state == "queued":
        return f"{unit}: waiting for its turn"
    if status.progress is None:
        return f"{unit}: beginning"
    done, of = written(status.progress.done), written(status.progress.of)
    return f"{unit}: {done} of {of}{_pace(status, written)}"


def seconds_left(status: Status[Any, Any]) -> float | None:
    """Return how long the rest takes at the average speed so far; None before any progress."""
    progress = status.progress
    if progress is None or not progress.done:
        return None
    return status.elapsed_seconds * (progress.of - progress.done) / progress.done


def _pace(status: Status[Any, Any], written: Callable[[int], str]) -> str:
    left, progress = seconds_left(status), status.progress
    if left is None or progress is None or status.elapsed_seconds <= 0:
        return ""
    rate = progress.done / status.elapsed_seconds
    return f", {written(round(rate))} a second, about {duration(left)} left"
