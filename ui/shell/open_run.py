"""The run that a page shows, the training that its visitor waits for, and the visitor's own runs.

The run is the one named in the address, the open one, or the sample. The training stays in the
address of the page until it ends.

The visitor's recent runs and last corpus are kept in the browser for a reload and other tabs. The
run picker offers these runs. The browser that trained a run also keeps its key, with which it alone
may rename and delete it, each in a dialog over the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Final, TypeVar, cast
from zoneinfo import ZoneInfo

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.files import Entry
from ui.components import run_memory
from ui.host import errors_shown
from ui.look import RunName, plain_markdown, run_labels
from ui.shell import workspace
from ui.storage import (
    DAYS_KEPT_UNOPENED,
    SAMPLE_RUN_ID,
    StoredRun,
    delete_run,
    find_run_name,
    in_memory_run,
    load_run,
    note_opened,
    rename_run,
)
from ui.work import Status, Training, UnknownWorkError, jobs

_MAX_ID_LENGTH = 100_000
"""An id this long is reported as unknown, not ignored."""

_MAX_NAME_LENGTH: Final = 100
MAX_RECENT_RUNS: Final = 8
MAX_KEYS: Final = 256
"""More than the runs of several experiments."""
_MAX_FORGOTTEN = 4 * MAX_RECENT_RUNS
_KEY = "run_memory"
_Run = TypeVar("_Run", RunName, StoredRun)
_SOURCES: Final = ("upload", "paste", "words")
"""Where a corpus can come from that is kept under an id."""
_FAILURE_WIDTH = 420
RENAME: Final = "rename"
DELETE: Final = "delete"
ACTIONS: Final = (RENAME, DELETE)
_ACTIONS: Final = {RENAME: "Rename this run…", DELETE: "Delete this run…"}


@dataclass(frozen=True, slots=True)
class OpenRun:
    """The run that all pages show."""

    id: str = SAMPLE_RUN_ID
    step: int | None = None
    """The number of its merges last shown; None until a step of it has been shown."""


def find_run() -> tuple[StoredRun | None, BpeError | None]:
    """Return the run named in the address, else the open one, else the sample.

    An address that leads nowhere is left unchanged, and so is the open run. The first error is
    returned too.
    """
    current = workspace.get(OpenRun).id
    problem: BpeError | None = None
    for run_id in dict.fromkeys(
        (workspace.query_text("run", _MAX_ID_LENGTH) or current, current, SAMPLE_RUN_ID)
    ):
        try:
            stored = load_run(run_id)
        except BpeError as error:
            problem = problem or error
            forget_run(run_id)
            continue
        if problem is None:
            _show(run_id)  # a link names a run together with a step of it
            note_opened(run_id)
            if run_id != SAMPLE_RUN_ID:
                remember_run(stored)
        return stored, problem
    return None, problem


def shown_instead(stored: StoredRun | None) -> str:
    """Return the end of an error: which run is shown instead of the address's own."""
    if stored is None:
        return ""
    which = "The example run" if stored.id == SAMPLE_RUN_ID else "The run that was open"
    return f" {which} is shown instead."


def open_run(run_id: str) -> None:
    """Make a run the one that all pages show, and put it in the address.

    Steps and pairs belong to one run: those of a run that was open are removed from the address.
    """
    if workspace.get(OpenRun).id != run_id:
        workspace.set_query(step=None, merges=None, pair=None)
    _show(run_id)


def _show(run_id: str) -> None:
    if workspace.get(OpenRun).id != run_id:
        workspace.update(OpenRun, id=run_id, step=None)
    workspace.set_query(run=None if run_id == SAMPLE_RUN_ID else run_id)


@dataclass(frozen=True, slots=True)
class Followed:
    """The training that the visitor waits for."""

    job_id: str | None = None
    """That of the training last started or returned to; None once its end has been shown."""


def followed_job() -> Training | None:
    """Return the training in the address, else this session's last training, or None.

    If the server does not know it, its state is "unknown".
    """
    if not workspace.navigation_is_drawn():
        return None
    job_id = workspace.query_text("job", longest=64) or workspace.get(Followed).job_id
    if job_id is None:
        return None
    try:
        return jobs.status(job_id)
    except UnknownWorkError as error:
        return Status(jobs.TRAIN, job_id, "unknown", problem=str(error))


def follow(job: Training | None) -> None:
    """Keep a training in the address while the page shows it, and open its run at the end."""
    if job is None:
        return
    if job.result is not None:
        note_training(None)
        open_run(job.result.run_id)
    else:
        note_training(job.id if job.is_live or job.state == "failed" else None)


def note_training(job_id: str | None) -> None:
    """Make a training the one that the visitor waits for, or none, also in the address."""
    workspace.update(Followed, job_id=job_id)
    workspace.set_query(job=job_id)


@dataclass(frozen=True, slots=True)
class Asking:
    """The dialog that is open: it stays open when work in the background redraws the page."""

    action: str = ""
    """RENAME or DELETE; empty for none."""
    run_id: str = ""


def begin_action(action: str, stored: StoredRun) -> None:
    """Open the dialog of an action on a run of the visitor's own."""
    workspace.update(Asking, action=action, run_id=stored.id)


def draw_run_dialog(stored: StoredRun) -> None:
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


@dataclass(frozen=True, slots=True)
class RecentRuns:
    """The runs that this session trained or opened by a link."""

    names: tuple[RunName, ...] = ()
    """The latest first."""
    unkept: tuple[StoredRun, ...] = field(default=(), repr=False)
    """Those that could not be stored on disk: they live as long as this refers to them."""
    forgotten: tuple[str, ...] = ()
    """Ids of recent runs that no longer exist or were removed: the browser drops them as well."""


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """The keys of the runs that this browser trained."""

    keys: tuple[str, ...] = field(default=(), repr=False)
    """The latest first."""


def new_own_id() -> str:
    """Return an id for a run that this visitor trains, and remember its key."""
    key = Entry.new_id()
    hold_keys([key])
    return Entry.owned_id(key)


def is_own(run_id: str) -> bool:
    """Return whether the visitor's browser trained a run."""
    return any(Entry.owned_id(key) == run_id for key in workspace.get(OwnKeys).keys)


def hold_keys(keys: Sequence[str]) -> None:
    """Remember keys of runs that this visitor trains; the oldest are dropped if too many."""
    _hold([*keys, *workspace.get(OwnKeys).keys])


def _hold(keys: Sequence[str]) -> None:
    workspace.update(OwnKeys, keys=tuple(dict.fromkeys(keys))[:MAX_KEYS])


def remember_run(run: StoredRun) -> None:
    """Put a run first among the recent ones, and drop the oldest if there are too many."""
    here = workspace.get(RecentRuns)
    _list((run.name, *here.names), (*here.unkept, *([run] if run.not_kept else [])))


def forget_run(run_id: str) -> None:
    """Remove a run from the recent ones."""
    here = workspace.get(RecentRuns)
    left = [run for run in here.names if run.id != run_id]
    gone = [run_id] if len(left) < len(here.names) else []
    _list(left, here.unkept, gone=gone)


def forget_other_runs() -> None:
    """Remove all recent runs except those that could not be stored on disk."""
    here = workspace.get(RecentRuns)
    held = [run.name for run in here.unkept]
    gone = {run.id for run in here.names} - {run.id for run in held}
    _list(held, here.unkept, gone=sorted(gone))


def start_over() -> None:
    """Clear the session as for a new visitor, except runs that could not be stored on disk."""
    unkept = workspace.get(RecentRuns).unkept
    workspace.forget_session()
    # The corpus may be what made a page fail.
    workspace.update(GivenCorpus, name="")
    _list([run.name for run in unkept], unkept)


def keep_runs() -> None:
    """Have the browser keep the ids of the recent runs and of the corpus given last, and its keys.

    The runs that it kept before are listed, and the corpus and the keys are noted.
    """
    here = workspace.get(RecentRuns)
    run_memory(
        [run.id for run in here.names],
        forgotten=here.forgotten,
        most=MAX_RECENT_RUNS,
        keys=workspace.get(OwnKeys).keys,
        most_keys=MAX_KEYS,
        corpus=workspace.get(GivenCorpus).name,
        key=_KEY,
        on_found=_list_again,
    )


def _list_again() -> None:
    """List the runs that the browser kept after the recent ones, and forget missing ones."""
    names: list[RunName] = []
    gone: list[str] = []
    found = workspace.component_value(_KEY, "found")
    note_found(found)
    _hold([*workspace.get(OwnKeys).keys, *_ids(found, "keys", MAX_KEYS)])
    for run_id in _ids(found, "ids", MAX_RECENT_RUNS):
        try:
            names.append(find_run_name(run_id))
        except BpeError:
            gone.append(run_id)
    unkept = [run for name in names if (run := in_memory_run(name.id)) is not None]
    here = workspace.get(RecentRuns)
    _list((*here.names, *names), (*here.unkept, *unkept), gone=gone)


def _list(
    names: Iterable[RunName], unkept: Iterable[StoredRun], *, gone: Sequence[str] = ()
) -> None:
    """Make these the recent runs, each once; hold those that could not be stored on disk."""
    recent = _keep_firsts(names)[:MAX_RECENT_RUNS]
    ids = {run.id for run in recent}
    forgotten = [*workspace.get(RecentRuns).forgotten, *gone]
    workspace.update(
        RecentRuns,
        names=tuple(recent),
        unkept=tuple(run for run in _keep_firsts(unkept) if run.id in ids),
        forgotten=tuple(dict.fromkeys(id for id in forgotten if id not in ids))[-_MAX_FORGOTTEN:],
    )


def _keep_firsts(runs: Iterable[_Run]) -> list[_Run]:
    found: dict[str, _Run] = {}
    for run in runs:
        found.setdefault(run.id, run)
    return list(found.values())


def _ids(found: object, name: str, most: int) -> list[str]:
    """Return the ids or keys in what the browser sent, which may be anything."""
    ids = cast("Mapping[object, object]", found).get(name) if isinstance(found, Mapping) else None
    if not isinstance(ids, list):
        return []
    listed = cast("list[object]", ids)[:most]
    return [text for text in listed if isinstance(text, str) and Entry.is_id(text)]


@dataclass(frozen=True, slots=True)
class GivenCorpus:
    """The corpus that this visitor gave last, in this tab or in another."""

    name: str | None = None
    """Its source and id, such as "upload=0123"; empty for none that is kept, None until known."""
    is_to_open: bool = False
    """Whether the browser has named it, and the form is to hold it."""


_SHOWS_GIVEN: Final = "shows_given_corpus"


def note_given(source: str, kept_id: str | None) -> None:
    """Remember the corpus that a form holds; without an id, that it holds none that is kept."""
    given = workspace.get(GivenCorpus)
    name = f"{source}={kept_id}" if kept_id else ""
    if name != given.name and (kept_id or given.name is not None):
        workspace.update(GivenCorpus, name=name, is_to_open=False)


def note_found(found: object) -> None:
    """Remember the corpus in what the browser sent, which may be anything."""
    if workspace.get(GivenCorpus).name is not None or not isinstance(found, Mapping):
        return
    name = cast("Mapping[object, object]", found).get("corpus")
    source, _, kept_id = name.partition("=") if isinstance(name, str) else ("", "", "")
    is_valid = source in _SOURCES and Entry.is_id(kept_id)
    workspace.update(GivenCorpus, name=name if is_valid else "", is_to_open=is_valid)


def take_given() -> tuple[str, str] | None:
    """Return the source and the id that the browser named, until its page shows that corpus.

    A form is filled by setting its widgets. A message that the browser sent before it drew them,
    such as a fragment's next look or a question that was asked again, brings their old values back,
    and that of `draw_given_mark` with them.
    """
    given = workspace.get(GivenCorpus)
    if not given.is_to_open or workspace.is_checked(_SHOWS_GIVEN):
        return None
    workspace.set_widget(_SHOWS_GIVEN, True)
    source, _, kept_id = (given.name or "").partition("=")
    return source, kept_id


def draw_given_mark() -> None:
    """Draw the hidden widget that tells whether the browser has drawn the filled form.

    Call it after the form's own widgets.
    """
    st.checkbox("Shows the corpus given before", key=_SHOWS_GIVEN, persist_state="session")


def run_picker(stored: StoredRun) -> str | None:
    """Draw the picker, labelled with the current run.

    Return the id of the run just picked, or RENAME or DELETE, which are offered for a run of the
    visitor's own that is stored on disk.
    """
    labels = visitor_run_labels(stored)
    is_changeable = is_own(stored.id) and not stored.not_kept
    options = labels | _ACTIONS if is_changeable else labels
    return st.menu_button(
        f"Run: {labels[stored.id]}",
        list(options),
        format_func=lambda option: options[option],
        key="run_picker",
        help="The run that all pages show. A page’s address includes its run, so it can be shared. "
        "Only the browser that trained a run can rename or delete it.",
        wrap=True,
    )


def has_one_run(stored: StoredRun) -> bool:
    """Return whether the visitor can choose no other run than the sample, which is shown."""
    return stored.id == SAMPLE_RUN_ID and not workspace.get(RecentRuns).names


def newest_own() -> RunName | None:
    """Return the run that the visitor's browser trained last; None if it trained none."""
    return next((run for run in workspace.get(RecentRuns).names if is_own(run.id)), None)


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
