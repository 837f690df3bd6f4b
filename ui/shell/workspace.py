"""Keep a visitor's state: the only module that touches `st.session_state`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict, TypeVar, Unpack

import streamlit as st
from streamlit.runtime.app_session import AppSession

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.filed_corpus import FiledCorpus
from bpe_core.corpus.notes import Note
from bpe_core.types import TrainingConfig
from ui.look.run_names import RunName
from ui.storage.run_store import SAMPLE_RUN_ID, StoredRun

_KEY = "workspace"
_NAVIGATION_KEY = "navigation_is_drawn"
MOST_RECENT_RUNS = 8
_MOST_FORGOTTEN = 4 * MOST_RECENT_RUNS

_Run = TypeVar("_Run", RunName, StoredRun)


@dataclass(frozen=True, slots=True)
class KeptText:
    """A long text and the id that it is kept under."""

    id: str
    text: str
    is_own: bool
    """False if it came by a link: then edits are kept under a new id."""


@dataclass(frozen=True, slots=True)
class OpenedText:
    """A file or a large paste that was opened as a text."""

    name: str
    n_bytes: int
    """The size of all of it, even if only its beginning is read."""
    before: str | None
    """The text that it replaced; None for the page's first text."""


@dataclass(frozen=True, slots=True)
class PastedText:
    """A large paste into a text area of Train."""

    text: str
    n_bytes: int
    before: str
    """What the text area held before."""


@dataclass(frozen=True, slots=True)
class OwnTerms:
    """A visitor's list of terms on Compare."""

    text: str | None = None
    """What was last typed or opened; None before that."""
    opened: OpenedText | None = None
    """What `text` was opened from; None once it is edited."""
    note: str = ""
    """What of a file or a paste is not read, and why; empty if all is."""
    file: str = ""
    """The upload last opened, even if it could not be read."""


@dataclass(frozen=True, slots=True)
class TokenChoices:
    """The new tokens of a run that its visitor pinned or left out, to extend again."""

    run_id: str
    pinned: tuple[str, ...]
    """Their bytes in hexadecimal."""
    left_out: tuple[str, ...]
    """Their bytes in hexadecimal."""


@dataclass(frozen=True, slots=True)
class AddressChange:
    """A change of a parameter of the address that was made here; None stands for a missing one."""

    before: str | None
    after: str | None
    page: str
    """The hash of the page's script."""
    at: float
    """The monotonic time in seconds."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A visitor's state, shared by all pages."""

    corpus: Corpus | FiledCorpus | None = None
    """The corpus last read from uploads; None before that and after a reset."""
    corpus_title: str = ""
    corpus_id: str = ""
    """The id that `corpus` is kept under; empty if it is not."""
    corpus_source: tuple[str, ...] = ()
    """The ids of the uploads that `corpus` was read from, the column and the encodings chosen."""
    corpus_guesses: tuple[Note, ...] = ()
    """The uploads whose encoding was guessed or not found when they were first read."""
    missing_corpus: str = ""
    """Which corpus the forms on Train were to be filled with, if it is not kept; else empty."""
    forms_are_filled: bool = False
    """Whether the forms on Train were shown, filled from a run that was open or not."""
    settings: TrainingConfig | None = None
    """The valid settings last shown on Train; None before that."""
    pasted: Mapping[str, PastedText] = field(default_factory=dict[str, PastedText], repr=False)
    """Large pastes, by the key of the text area that each replaces."""
    uploaded: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids of the files last seen in each uploader, by its key."""
    bytes_kept: int = 0
    """The total size of the files that this session has kept on the server's disk."""
    run_id: str = SAMPLE_RUN_ID
    """The run that all pages show."""
    recent_runs: tuple[RunName, ...] = ()
    """Runs that this session trained or opened by a link, the latest first."""
    forgotten_runs: tuple[str, ...] = ()
    """Ids of runs that were recent and are gone or were removed: the browser drops them, too."""
    unkept_runs: tuple[StoredRun, ...] = field(default=(), repr=False)
    """Those that could not be stored on disk: they live as long as this refers to them."""
    job_id: str | None = None
    """The training last started or returned to; None once its end has been shown."""
    text: str | None = None
    """The text last typed on Token boundaries, which Compare shows too; None before that."""
    kept_texts: Mapping[str, KeptText] = field(default_factory=dict[str, KeptText], repr=False)
    """The texts last kept for the address or loaded from it, by their names in the address."""
    opened: OpenedText | None = None
    """What `text` was opened from; None once the text is edited."""
    opened_file: str = ""
    """The upload last opened as `text`, even if it could not be read or the text was edited since.
    """
    opened_notes: tuple[Note, ...] = ()
    """Notes on what was skipped or guessed in `opened`; empty once the text changes."""
    opened_cut: str = ""
    """A sentence on the part of `opened` that is shown if it was cut; empty otherwise."""
    opened_problem: str = ""
    """Why that upload could not be read; empty once the text changes."""
    lesson_texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """The texts typed in the fields of the lessons, by the name of the field."""
    chosen_token: object = None
    """The browser's last message about a chosen token on Token boundaries, not validated yet."""
    step: int | None = None
    """The number of merges last shown of the run; None until a step of it has been shown."""
    shelf: tuple[str, ...] | None = None
    """The keys of the tokenizers to compare with, as in `ui.tokenizers.shelf`; None before Compare
    is opened."""
    files_added: int = 0
    """The number of times that files were added to the shelf."""
    shelf_problems: tuple[str, ...] = ()
    """Why tokenizers are no longer on the shelf; empty once the shelf changes."""
    addition_problems: tuple[str, ...] = ()
    """Why files could not be added to the shelf; empty once it changes."""
    own_files: Mapping[str, str] = field(default_factory=dict[str, str])
    """The ids of the visitor's files to measure on, by their use; empty ids without files."""
    sentences: str | None = None
    """The id of the visitor's own parallel sentences; empty for the sample, None before Compare is
    opened."""
    terms: OwnTerms = field(default_factory=OwnTerms)
    token_choices: TokenChoices | None = None
    """The choices with which an extension was just asked for; None once it has begun."""
    replace_choices: TokenChoices | None = None
    """The new tokens that Replace pins or leaves out; `run_id` is the base's fingerprint."""
    address_changes: Mapping[str, AddressChange] = field(default_factory=dict[str, AddressChange])
    """The last change of each parameter of the address."""


class _Changes(TypedDict, total=False):
    corpus: Corpus | FiledCorpus | None
    corpus_title: str
    corpus_id: str
    corpus_source: tuple[str, ...]
    corpus_guesses: tuple[Note, ...]
    settings: TrainingConfig
    pasted: Mapping[str, PastedText]
    missing_corpus: str
    forms_are_filled: bool
    uploaded: Mapping[str, tuple[str, ...]]
    bytes_kept: int
    run_id: str
    job_id: str | None
    text: str
    kept_texts: Mapping[str, KeptText]
    opened: OpenedText | None
    opened_file: str
    opened_notes: tuple[Note, ...]
    opened_cut: str
    opened_problem: str
    chosen_token: object
    lesson_texts: Mapping[str, str]
    step: int | None
    shelf: tuple[str, ...]
    files_added: int
    shelf_problems: tuple[str, ...]
    addition_problems: tuple[str, ...]
    own_files: Mapping[str, str]
    sentences: str
    terms: OwnTerms
    token_choices: TokenChoices | None
    replace_choices: TokenChoices | None
    address_changes: Mapping[str, AddressChange]


def current() -> Workspace:
    """Return this session's workspace, a new one at first."""
    return st.session_state.get(_KEY) or Workspace()


def update(**changes: Unpack[_Changes]) -> Workspace:
    """Replace the named fields and keep the rest; another run forgets the step."""
    before = current()
    workspace = replace(before, **changes)
    if workspace.run_id != before.run_id and "step" not in changes:
        workspace = replace(workspace, step=None)
    st.session_state[_KEY] = workspace
    return workspace


def remember_run(run: RunName, *, unkept: StoredRun | None = None) -> None:
    """Put a run first among the recent ones, and drop the oldest if there are too many.

    `unkept` is the run itself if it could not be stored on disk.
    """
    here = current()
    _list((run, *here.recent_runs), (*here.unkept_runs, *([] if unkept is None else [unkept])))


def remember_stored_run(run: StoredRun) -> None:
    """Put a stored run first among the recent ones, and hold it if it is not on disk."""
    remember_run(run.name, unkept=run if run.not_kept else None)


def list_again(
    runs: Sequence[RunName], *, unkept: Sequence[StoredRun], gone: Sequence[str]
) -> None:
    """Put runs that the browser kept behind the recent ones, and forget those that are gone."""
    here = current()
    _list((*here.recent_runs, *runs), (*here.unkept_runs, *unkept), forget=gone)


def forget_run(run_id: str) -> None:
    """Remove a run from the recent ones."""
    here = current()
    left = [run for run in here.recent_runs if run.id != run_id]
    gone = [run_id] if len(left) < len(here.recent_runs) else []
    _list(left, here.unkept_runs, forget=gone)


def forget_other_runs() -> None:
    """Remove all recent runs except those that could not be stored on disk."""
    here = current()
    held = [run.name for run in here.unkept_runs]
    gone = {run.id for run in here.recent_runs} - {run.id for run in held}
    _list(held, here.unkept_runs, forget=sorted(gone))


def _list(
    runs: Iterable[RunName], unkept: Iterable[StoredRun], *, forget: Sequence[str] = ()
) -> None:
    """Make these the recent runs, each once; hold those that could not be stored on disk."""
    here = current()
    recent = _first_of_each(runs)[:MOST_RECENT_RUNS]
    ids = {run.id for run in recent}
    forgotten = [each for each in (*here.forgotten_runs, *forget) if each not in ids]
    st.session_state[_KEY] = replace(
        here,
        recent_runs=tuple(recent),
        unkept_runs=tuple(run for run in _first_of_each(unkept) if run.id in ids),
        forgotten_runs=tuple(dict.fromkeys(forgotten))[-_MOST_FORGOTTEN:],
    )


def _first_of_each(runs: Iterable[_Run]) -> list[_Run]:
    found: dict[str, _Run] = {}
    for run in runs:
        found.setdefault(run.id, run)
    return list(found.values())


def start_over() -> None:
    """Clear the session as for a new visitor, except runs that could not be stored on disk."""
    held = current().unkept_runs
    st.session_state.clear()
    _list([run.name for run in held], held)


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


def has_widget(key: str) -> bool:
    """Return whether a widget has a value, because it was drawn or set."""
    return st.session_state.get(key) is not None


def start_choice(key: str, value: str) -> None:
    """Set a widget in which nothing is chosen; call before the widget is drawn."""
    if st.session_state.get(key) is None:
        st.session_state[key] = value


def copy_widget(source: str, target: str) -> None:
    """Copy a widget's value to another: a callback for two that show the same number."""
    st.session_state[target] = st.session_state[source]


def set_widget(key: str, value: str | float) -> None:
    """Set a widget's value; call in a callback or before the widget is drawn."""
    st.session_state[key] = value


def widget_text(key: str) -> str:
    """Return the content of a text field; empty if it was never drawn."""
    return st.session_state.get(key, "")


def widget_choices(key: str, first: Sequence[str]) -> list[str]:
    """Return what is chosen in a list of many; `first` if it was never drawn."""
    return list(st.session_state.get(key, first))


def widget_number(key: str) -> float | None:
    """Return the number in a slider or a field; None if it is empty or was never drawn."""
    return st.session_state.get(key)


def widgets_hold(values: Mapping[str, str | float]) -> bool:
    """Return whether each of these widgets holds its value or was never drawn."""
    return all(st.session_state.get(key, value) == value for key, value in values.items())


def free_state(session: AppSession) -> None:
    """Drop what a closed session holds, unless a script that is being stopped still uses it."""
    if session._scriptrunner is None:  # pyright: ignore[reportPrivateUsage]
        state = session.session_state
        # Otherwise each value is read once more, which fails for a value that no page sends.
        state._new_widget_state.states.clear()  # pyright: ignore[reportPrivateUsage]
        state.clear()
        # Clearing leaves what widgets call, which refers to all that their page drew.
        state._new_widget_state.widget_metadata.clear()  # pyright: ignore[reportPrivateUsage]
        session._fragment_storage.clear()  # pyright: ignore[reportPrivateUsage]


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
