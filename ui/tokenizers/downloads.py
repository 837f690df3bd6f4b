"""Fetch tokenizers by name in the background, for a visitor who pressed a button.

Opening a link fetches nothing: it puts names on the shelf, and those that are not on this server
yet get a button.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from bpe_core.errors import UnavailableError
from bpe_core.published import FetchProgress, fetch, hub_address, is_hub_name, parse_hub_name
from ui.host import settings
from ui.look import plain_markdown, size_text
from ui.shell import workspace
from ui.tokenizers.by_name import is_here, pinned, short_name
from ui.work import (
    Progress,
    Task,
    UnknownWorkError,
    WorkKind,
    how_far,
    queue,
    watch_work,
)

FETCH: Final = WorkKind[Progress, str]("tokenizers", max_waiting=32, max_per_visitor=4)
"""By key; the result is the pinned key."""


@dataclass(frozen=True, slots=True)
class Downloads:
    """What this session fetches."""

    keys: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    """The keys of downloads that failed, until another begins or the shelf changes."""


def begin_download(key: str) -> None:
    """Begin to fetch the tokenizer of a name; raise NotAllowedError or TooMuchWorkError."""
    is_here(key)  # raises if it may not be fetched
    if key not in workspace.get(Downloads).keys:
        _forget_ended(key)
        queue.begin(FETCH, key, partial(_fetch, key))
        keys = (*workspace.get(Downloads).keys, key)
        workspace.update(Downloads, keys=keys, failed=())


def end_downloads(found: Callable[[str, str], None], failed: Callable[[str], None]) -> None:
    """Call `found` with the key and the pinned key of each finished download, or `failed`."""
    for key in workspace.get(Downloads).keys:
        try:
            status = queue.status(FETCH, key)
        except UnknownWorkError as error:
            _drop(key)
            failed(f"{short_name(key)} could not be added. {error}")
            continue
        if status.is_live:
            continue
        _drop(key)
        if status.result is not None:
            found(key, pinned(status.result))
        elif status.problem is not None:
            failed(f"{short_name(key)} could not be added. {status.problem}")
            workspace.update(Downloads, failed=(*workspace.get(Downloads).failed, key))


def draw_downloads() -> None:
    """Draw a bar and a button to cancel for each download, and the pages of models that failed."""
    for key in filter(is_hub_name, workspace.get(Downloads).failed):
        repo = parse_hub_name(key).repo
        st.link_button(f"{plain_markdown(repo)} on the hub", f"{hub_address()}/{repo}")
    for number, key in enumerate(workspace.get(Downloads).keys):
        what = f"Fetching {plain_markdown(short_name(key))}"
        describe = partial(how_far, what, size_text)
        watch_work(FETCH, key, describe, key=f"download_{number}")


def _drop(key: str) -> None:
    keys = tuple(other for other in workspace.get(Downloads).keys if other != key)
    workspace.update(Downloads, keys=keys)


def _forget_ended(key: str) -> None:
    """Forget an earlier download of the same name, so that it can begin again."""
    status = queue.find(FETCH, key)
    if status is not None and not status.is_live:
        queue.forget(FETCH, key)


def _fetch(key: str, task: Task[Progress]) -> str:
    def follow(step: FetchProgress) -> None:
        task.report(Progress(step.done_bytes, step.total_bytes))

    try:
        return fetch(key, follow, lambda: task.is_cancelled, asks_hub=bool(settings().hub))
    except UnavailableError:
        # An older commit will do.
        if is_here(key):
            return key
        raise
