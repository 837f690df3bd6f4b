"""Keep a visitor's state: the only module that touches `st.session_state`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict, Unpack

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from ui.look.run_names import RunName
from ui.storage.run_store import SAMPLE_RUN_ID, StoredRun

_KEY = "workspace"
_NAVIGATION_KEY = "navigation_is_drawn"
MOST_RECENT_RUNS = 8
# The sample's first merges are of white space; this step shows words and the first tie.
_SAMPLE_STEP = 68


@dataclass(frozen=True, slots=True)
class KeptText:
    """A long text and the id that it is kept under."""

    id: str
    text: str
    is_own: bool
    """False if it came by a link: then edits are kept under a new id."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A visitor's state, shared by all pages."""

    corpus: Corpus | None = None
    """The corpus last read from uploads; None before that and after a reset."""
    corpus_title: str = ""
    corpus_source: tuple[str, ...] = ()
    """The ids of the uploads that `corpus` was read from, and the name of the column."""
    uploaded: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids of the files last seen in each uploader, by its key."""
    bytes_kept: int = 0
    """The total size of the files that this session has kept on the server's disk."""
    run_id: str = SAMPLE_RUN_ID
    """The run that all pages show."""
    recent_runs: tuple[RunName, ...] = ()
    """Runs that this session trained or opened by a link, the latest first."""
    unkept_runs: tuple[StoredRun, ...] = field(default=(), repr=False)
    """Those that could not be stored on disk: they live as long as this refers to them."""
    job_id: str | None = None
    """The training last started or returned to; None once its end has been shown."""
    text: str | None = None
    """The text last typed on Token boundaries, which Compare shows too; None before that."""
    kept_text: KeptText | None = None
    """The text last kept for the address or loaded from it; None before that."""
    opened_file: str = ""
    """The upload last opened as `text`, even if it could not be read or the text was edited since.
    """
    opened_notes: tuple[str, ...] = ()
    """How that upload was read: what was cut, skipped or guessed; empty once the text changes."""
    opened_problem: str = ""
    """Why that upload could not be read; empty once the text changes."""
    lesson_texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """The texts typed in the fields of the lessons, by the name of the field."""
    chosen_token: object = None
    """The browser's last message about a chosen token on Token boundaries, not validated yet."""
    step: int = _SAMPLE_STEP
    """The number of merges shown when the merge loop was left; another run starts from 0."""
    shelf: tuple[str, ...] | None = None
    """The keys of the tokenizers to compare with, as in `ui.tokenizers.shelf`; None before Compare
    is opened."""
    shelf_problems: tuple[str, ...] = ()
    """Why requested tokenizers are not on the shelf; empty once the shelf changes."""
    sentences: str | None = None
    """The id of the visitor's own parallel sentences; empty for the sample, None before Compare is
    opened."""


class _Changes(TypedDict, total=False):
    corpus: Corpus | None
    corpus_title: str
    corpus_source: tuple[str, ...]
    uploaded: Mapping[str, tuple[str, ...]]
    bytes_kept: int
    run_id: str
    job_id: str | None
    text: str
    kept_text: KeptText | None
    opened_file: str
    opened_notes: tuple[str, ...]
    opened_problem: str
    chosen_token: object
    lesson_texts: Mapping[str, str]
    step: int
    shelf: tuple[str, ...]
    shelf_problems: tuple[str, ...]
    sentences: str


def current() -> Workspace:
    """Return this session's workspace, a new one at first."""
    return st.session_state.get(_KEY) or Workspace()


def update(**changes: Unpack[_Changes]) -> Workspace:
    """Replace the named fields and keep the rest; a new run starts at its first step."""
    before = current()
    workspace = replace(before, **changes)
    if workspace.run_id != before.run_id and "step" not in changes:
        first_step = _SAMPLE_STEP if workspace.run_id == SAMPLE_RUN_ID else 0
        workspace = replace(workspace, step=first_step)
    st.session_state[_KEY] = workspace
    return workspace


def remember_run(run: RunName, *, unkept: StoredRun | None = None) -> None:
    """Put a run first among the recent ones, and drop the oldest if there are too many.

    `unkept` is the run itself if it could not be stored on disk.
    """
    forget_run(run.id)
    before = current()
    recent = (run, *before.recent_runs)[:MOST_RECENT_RUNS]
    ids = {each.id for each in recent}
    held = tuple(each for each in before.unkept_runs if each.id in ids)
    held += () if unkept is None else (unkept,)
    st.session_state[_KEY] = replace(before, recent_runs=recent, unkept_runs=held)


def forget_run(run_id: str) -> None:
    """Remove a run from the recent ones."""
    before = current()
    recent = tuple(run for run in before.recent_runs if run.id != run_id)
    held = tuple(run for run in before.unkept_runs if run.id != run_id)
    st.session_state[_KEY] = replace(before, recent_runs=recent, unkept_runs=held)


def forget_other_runs() -> None:
    """Remove all recent runs except those that could not be stored on disk."""
    st.session_state[_KEY] = replace(current(), recent_runs=_unkept_alone().recent_runs)


def start_over() -> None:
    """Clear the session as for a new visitor, except runs that could not be stored on disk."""
    workspace = _unkept_alone()
    st.session_state.clear()
    st.session_state[_KEY] = workspace


def _unkept_alone() -> Workspace:
    held = current().unkept_runs
    return Workspace(recent_runs=tuple(run.name for run in held), unkept_runs=held)


def navigation_is_drawn() -> bool:
    """Return whether app.py has drawn the navigation in this session; False on a cold deep link."""
    return _NAVIGATION_KEY in st.session_state


def note_navigation() -> None:
    """Note that app.py has drawn the navigation in this session."""
    st.session_state[_NAVIGATION_KEY] = True


def forget_widgets(*prefixes: str) -> None:
    """Reset the widgets whose keys start with one of these prefixes.

    This does not reach the browser: a widget that stays on the page goes on showing its old value,
    unless `set_widget` sets it too.
    """
    for key in [key for key in st.session_state if str(key).startswith(prefixes)]:
        del st.session_state[key]


def start_widget(key: str, value: int) -> int:
    """Give a widget a first value unless it has a value, and return its value."""
    return st.session_state.setdefault(key, value)


def start_choice(key: str, value: str) -> None:
    """Set a widget in which nothing is chosen; call before the widget is drawn."""
    if st.session_state.get(key) is None:
        st.session_state[key] = value


def copy_widget(source: str, target: str) -> None:
    """Copy a widget's value to another: a callback for two that show the same number."""
    st.session_state[target] = st.session_state[source]


def set_widget(key: str, value: str | int) -> None:
    """Set a widget's value; call in a callback or before the widget is drawn."""
    st.session_state[key] = value


def widget_text(key: str) -> str:
    """Return the content of a text field; empty if it was never drawn."""
    return st.session_state.get(key, "")


def was_pressed(key: str) -> bool:
    """Return whether a press on this button started the current run of the script."""
    return bool(st.session_state.get(key))


def component_value(key: str, name: str) -> object:
    """Return the value of a component's state or trigger; for its callbacks."""
    return st.session_state[key].get(name)


def selected_points(key: str) -> list[int]:
    """Return the indices of the selected points of a chart; for its callbacks."""
    return list(st.session_state[key].selection.point_indices)


def selected_rows(key: str) -> list[int]:
    """Return the indices of the selected rows of a table; for its callbacks."""
    return list(st.session_state[key].selection.rows)
