"""The one place that touches `st.session_state`: a frozen Workspace, and functions on it."""

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
# The sample's first merges are of white space. Here there are words to see, and the first tie.
_SAMPLE_STEP = 68


@dataclass(frozen=True, slots=True)
class KeptText:
    """A long text and the id that it is kept under."""

    id: str
    text: str
    is_own: bool
    """False where it came by a link: what is typed then is kept apart."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """What one visitor works on, from page to page."""

    corpus: Corpus | None = None
    """What was last read from uploads; None before any, and after a reset."""
    corpus_title: str = ""
    corpus_source: tuple[str, ...] = ()
    """Which uploads `corpus` was read from, by their ids, and which of their columns."""
    uploaded: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids of the files that were last in each uploader, by its key."""
    bytes_kept: int = 0
    """Of files that this session had kept on the server's disk."""
    run_id: str = SAMPLE_RUN_ID
    """The run that all pages show."""
    recent_runs: tuple[RunName, ...] = ()
    """Runs that this session trained or opened by a link, the latest first."""
    unkept_runs: tuple[StoredRun, ...] = field(default=(), repr=False)
    """Those of them that no disk took: each is there for as long as it is held here."""
    job_id: str | None = None
    """The training last started or come back to; None once its end was told."""
    text: str | None = None
    """The text last typed on Token boundaries, which Compare shows too; None before any."""
    kept_text: KeptText | None = None
    """The text that was last kept for the address, or came by it; None before any."""
    opened_file: str = ""
    """The upload last opened as `text`, read or not: typing may have changed the text since."""
    opened_notes: tuple[str, ...] = ()
    """What to know of that upload: what was cut or skipped, or guessed; until the text changes."""
    opened_problem: str = ""
    """Why that upload could not be read; until the text changes."""
    lesson_texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What was typed in the fields of the lessons, by the name of the field."""
    chosen_token: object = None
    """What the browser last said of a token chosen on Token boundaries: of which text, and where;
    not looked at yet."""
    step: int = _SAMPLE_STEP
    """The number of merges done where the merge loop was left; another run starts from 0."""
    shelf: tuple[str, ...] | None = None
    """What the run is compared with, by the keys of `ui.tokenizers.shelf`; None before Compare was
    opened."""
    shelf_problems: tuple[str, ...] = ()
    """Why something asked for is not on the shelf; until the shelf changes."""
    sentences: str | None = None
    """The id that the visitor's own parallel sentences are kept under; empty where the sample is
    compared, None before Compare was opened."""


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
    """This session's workspace; a new one where the session has none."""
    return st.session_state.get(_KEY) or Workspace()


def update(**changes: Unpack[_Changes]) -> Workspace:
    """Replaces the fields named and keeps the rest; another run starts from its first step."""
    before = current()
    workspace = replace(before, **changes)
    if workspace.run_id != before.run_id and "step" not in changes:
        first_step = _SAMPLE_STEP if workspace.run_id == SAMPLE_RUN_ID else 0
        workspace = replace(workspace, step=first_step)
    st.session_state[_KEY] = workspace
    return workspace


def remember_run(run: RunName, *, unkept: StoredRun | None = None) -> None:
    """Put a run first among the recent ones; the oldest of too many falls out.

    `unkept` is the run itself where no disk took it.
    """
    forget_run(run.id)
    before = current()
    recent = (run, *before.recent_runs)[:MOST_RECENT_RUNS]
    ids = {each.id for each in recent}
    held = tuple(each for each in before.unkept_runs if each.id in ids)
    held += () if unkept is None else (unkept,)
    st.session_state[_KEY] = replace(before, recent_runs=recent, unkept_runs=held)


def forget_run(run_id: str) -> None:
    """Takes a run out of the recent ones."""
    before = current()
    recent = tuple(run for run in before.recent_runs if run.id != run_id)
    held = tuple(run for run in before.unkept_runs if run.id != run_id)
    st.session_state[_KEY] = replace(before, recent_runs=recent, unkept_runs=held)


def forget_other_runs() -> None:
    """Take all runs out of the recent ones save those that no disk took."""
    st.session_state[_KEY] = replace(current(), recent_runs=_unkept_alone().recent_runs)


def start_over() -> None:
    """Forget all that this session knows save the runs that no disk took.

    What is drawn next is drawn as for a new visitor.
    """
    left = _unkept_alone()
    st.session_state.clear()
    st.session_state[_KEY] = left


def _unkept_alone() -> Workspace:
    held = current().unkept_runs
    return Workspace(recent_runs=tuple(run.name for run in held), unkept_runs=held)


def navigation_is_drawn() -> bool:
    """Whether app.py has drawn the navigation in this session; false after a cold deep link."""
    return _NAVIGATION_KEY in st.session_state


def note_navigation() -> None:
    """Remembers that app.py has drawn the navigation in this session."""
    st.session_state[_NAVIGATION_KEY] = True


def forget_widgets(*prefixes: str) -> None:
    """Gives the widgets whose keys start with one of these their first values again.

    The browser isn't told: of a widget that stays on the page it goes on to show the value that
    is forgotten here. Set those.
    """
    for key in [key for key in st.session_state if str(key).startswith(prefixes)]:
        del st.session_state[key]


def start_widget(key: str, value: int) -> int:
    """Gives a widget its first value, if it has none yet; what it will show."""
    return st.session_state.setdefault(key, value)


def start_choice(key: str, value: str) -> None:
    """Makes the choice of a widget in which nothing is chosen; before it is drawn."""
    if st.session_state.get(key) is None:
        st.session_state[key] = value


def copy_widget(source: str, target: str) -> None:
    """Gives one widget another's value: the callback of two that show the same number."""
    st.session_state[target] = st.session_state[source]


def set_widget(key: str, value: str | int) -> None:
    """Gives a widget a value; for callbacks, before the widget is drawn."""
    st.session_state[key] = value


def widget_text(key: str) -> str:
    """What a field of text holds; empty where it was never drawn."""
    return st.session_state.get(key, "")


def was_pressed(key: str) -> bool:
    """Whether this run of the script comes from a press on a button."""
    return bool(st.session_state.get(key))


def component_value(key: str, name: str) -> object:
    """What a component with this key last said under a name; for its callbacks."""
    return st.session_state[key].get(name)


def selected_points(key: str) -> list[int]:
    """Places of the points that are selected in the chart with this key; for its callbacks."""
    return list(st.session_state[key].selection.point_indices)


def selected_rows(key: str) -> list[int]:
    """Places of the rows that are selected in the table with this key; for its callbacks."""
    return list(st.session_state[key].selection.rows)
