"""The visitor's recent runs, kept in the browser: a reload or another tab lists them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.store.place import is_id
from ui.components.run_memory import run_memory
from ui.look.run_names import RunName
from ui.shell import workspace
from ui.storage.run_store import in_memory_run, name_of_run

_KEY = "run_memory"


def keep_runs() -> None:
    """Have the browser keep the ids of the recent runs, and list those that it kept before."""
    here = workspace.current()
    st.html(f"<style>.st-key-{_KEY} {{ display: none; }}</style>")
    run_memory(
        [run.id for run in here.recent_runs],
        forgotten=here.forgotten_runs,
        most=workspace.MOST_RECENT_RUNS,
        key=_KEY,
        on_found=_list_again,
    )


def _list_again() -> None:
    names: list[RunName] = []
    gone: list[str] = []
    for run_id in _ids(workspace.component_value(_KEY, "found")):
        try:
            names.append(name_of_run(run_id))
        except BpeError:
            gone.append(run_id)
    unkept = [run for name in names if (run := in_memory_run(name.id)) is not None]
    workspace.list_again(names, unkept=unkept, gone=gone)


def _ids(found: object) -> list[str]:
    """Return the ids in what the browser sent, which may be anything."""
    ids = cast("Mapping[object, object]", found).get("ids") if isinstance(found, Mapping) else None
    if not isinstance(ids, list):
        return []
    listed = cast("list[object]", ids)[: workspace.MOST_RECENT_RUNS]
    return [text for text in listed if isinstance(text, str) and is_id(text)]
