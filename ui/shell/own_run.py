"""Rename and delete a run of the visitor's own, each in a dialog over the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from ui.host import errors_shown
from ui.look import plain_markdown
from ui.shell import workspace
from ui.shell.open_run import open_run
from ui.shell.recent_runs import DELETE, RENAME, forget_run
from ui.storage import DAYS_KEPT_UNOPENED, SAMPLE_RUN_ID, StoredRun, delete_run, rename_run

ACTIONS: Final = (RENAME, DELETE)
_MAX_NAME_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class Asking:
    """The dialog that is open: it stays open when work in the background redraws the page."""

    action: str = ""
    """RENAME or DELETE; empty for none."""
    run_id: str = ""


def ask(action: str, stored: StoredRun) -> None:
    """Open the dialog of an action on a run of the visitor's own."""
    workspace.update(Asking, action=action, run_id=stored.id)


def draw_dialog(stored: StoredRun) -> None:
    """Draw the dialog that is open for a run, if one is."""
    asking = workspace.get(Asking)
    if asking.run_id != stored.id:
        workspace.forget(Asking)
    elif asking.action == RENAME:
        _rename(stored)
    elif asking.action == DELETE:
        _delete(stored)


def _close() -> None:
    workspace.forget(Asking)
    st.rerun()


_dialog = partial(st.dialog, on_dismiss=partial(workspace.forget, Asking))


@_dialog("Rename this run")
def _rename(stored: StoredRun) -> None:
    with st.form("rename_run", border=False):
        name = st.text_input(
            "Name",
            value=stored.title[:_MAX_NAME_LENGTH],
            max_chars=_MAX_NAME_LENGTH,
            help="Everybody who has the address of this run sees its name.",
            key=f"name_of_{stored.id}",
        ).strip()
        is_pressed = st.form_submit_button("Rename")
    if not is_pressed:
        return
    if not name:
        st.error("Type a name first.")
        return
    with errors_shown():
        rename_run(stored.id, name)
        _close()


@_dialog("Delete this run?")
def _delete(stored: StoredRun) -> None:
    st.markdown(
        f"**{plain_markdown(stored.title)}** is deleted from the server for everybody who has its "
        "address: its merges, its settings and what is stored of its text. This cannot be undone."
    )
    st.markdown(
        ":gray[A corpus that was uploaded for it is stored separately, until "
        f"{DAYS_KEPT_UNOPENED} days after it was last opened.]"
    )
    with st.container(horizontal=True):
        is_pressed = st.button("Delete", key="delete_run")
        if st.button("Keep it", key="keep_run"):
            _close()
    if is_pressed:
        with errors_shown():
            delete_run(stored.id)
            forget_run(stored.id)
            open_run(SAMPLE_RUN_ID)
            _close()
