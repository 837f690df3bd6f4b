"""Make a server ready for its first visits, and free the memory of those whose tabs are closed.

Streamlit keeps a session after its tab is closed, in case it reconnects, and then until another
session starts or ends. This closes it before, and frees what the server kept for it: soon after a
browser has said that the tab is closed, and later if its connection was lost without a word.

When a server starts, modules are imported and caches filled, so that the first visits are fast.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Final, Protocol

import streamlit as st
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, SessionClient
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bpe_core.errors import BpeError
from bpe_core.tokenizer import forget_words
from bpe_core.unicode import forget_characters
from ui.host import event, server_cache
from ui.work import queue

SECONDS_AWAY: Final = 0.75 * config.get_option("server.disconnectedSessionTTL")
"""How long a session is kept after its connection was lost: a laptop may sleep, or a network fail.
After all of Streamlit's time it cannot be closed any more."""
SECONDS_CLOSED: Final = SECONDS_AWAY / 8
"""How long it is kept after its tab was closed or left; Back may bring that page back as it was."""
_SECONDS_BETWEEN_LOOKS: Final = SECONDS_AWAY / 16
_SECONDS_TO_ANSWER: Final = 10.0
_CLOSED: Final = (1000, 1001)
"""The codes with which programs and browsers close a connection. Uvicorn gives 1005 for one that
was lost, and Streamlit's page for one that it is going to replace."""
_KEY: Final = "sec-websocket-key"
"""The header that tells connections apart."""
_PR_SET_THP_DISABLE: Final = 41
"""Of Linux's prctl.h."""
_log = logging.getLogger(__name__)

_UI = Path(__file__).parents[1]
_QUIET_SECONDS = 2.0
_SECONDS_BETWEEN_CHECKS = 0.2
_last_request = time.monotonic()


class Sessions(Protocol):
    """What is used of Streamlit's runtime, on its event loop."""

    def is_active_session(self, session_id: str) -> bool:
        """Return whether a session has a tab."""
        ...

    def close_session(self, session_id: str) -> None:
        """End a session and free its state and its uploads."""
        ...


@dataclass(slots=True)
class _Visit:
    connection: str | None
    away_since: float | None = None
    is_closed: bool = False


class EndedVisits:
    """The sessions that drew a page, and since when they have no connection.

    >>> visits = EndedVisits(clock=lambda: 0.0)
    >>> visits.note("a session")
    >>> visits.is_anybody_here
    True
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._visits: dict[str, _Visit] = {}

    @property
    def is_anybody_here(self) -> bool:
        """Whether there is a session that has not been closed."""
        return bool(self._visits)

    def note(self, session_id: str, connection: str | None = None) -> None:
        """Note that a session draws a page, for the tab at the other end of a connection."""
        self._visits[session_id] = _Visit(connection)

    def note_closed(self, connection: str) -> None:
        """Note that the tab at the other end of a connection was closed."""
        for visit in list(self._visits.values()):
            if visit.connection == connection:
                visit.is_closed = True

    def close(self, sessions: Sessions) -> int:
        """Close the sessions that have been away for long; return how many."""
        now = self._clock()
        n_closed = 0
        for id, visit in list(self._visits.items()):
            seconds = SECONDS_CLOSED if visit.is_closed else SECONDS_AWAY
            if sessions.is_active_session(id):
                visit.away_since, visit.is_closed = None, False
            elif visit.away_since is None:
                visit.away_since = now
            elif now - visit.away_since >= seconds:
                sessions.close_session(id)
                del self._visits[id]
                n_closed += 1
        return n_closed


visits: Final = EndedVisits()
"""Those of this server."""


def note_visit() -> None:
    """Note that the session of this script draws a page."""
    context = get_script_run_ctx()
    if context is not None:
        visits.note(context.session_id, st.context.headers.get(_KEY))


class ClosedTabs:
    """Note which tabs are closed; it must be the last to pass on what a connection receives."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and what it receives."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        connection = Headers(scope=scope).get(_KEY, "")

        async def noted() -> Message:
            message = await receive()
            if message["type"] == "websocket.disconnect" and message.get("code") in _CLOSED:
                visits.note_closed(connection)
            return message

        await self._app(scope, noted, send)


async def close_regularly() -> None:
    """Close ended visits every few seconds, on the server's event loop, until cancelled."""
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        try:
            if n_closed := visits.close(runtime.get_instance()):
                try:
                    if not visits.is_anybody_here:
                        await _replace_last_session(runtime.get_instance())
                finally:
                    await asyncio.to_thread(_collect, n_closed)
        except Exception:
            # A server runs for months: what fails now may work in a moment.
            _log.exception("Cannot close ended visits.")


async def _replace_last_session(sessions: Runtime) -> None:
    """Make Streamlit's loop refer to an empty session.

    Until another session begins, it refers to the last one that was sent something, and with it to
    its widgets and fragments, and the run that they draw: 20 MB after a training on 10 MB.
    """
    tab = _NoTab()
    id = sessions.connect_session(tab, {})
    try:
        # Nothing is asked for, but the session answers.
        sessions.handle_backmsg(id, BackMsg(file_urls_request=FileURLsRequest()))
        async with asyncio.timeout(_SECONDS_TO_ANSWER):
            await tab.is_answered.wait()
    finally:
        sessions.close_session(id)


class _NoTab(SessionClient):
    def __init__(self) -> None:
        self.is_answered = asyncio.Event()

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        self.is_answered.set()


def _collect(n_closed: int) -> None:
    """Free what the closed sessions held, in a thread so that others are served meanwhile."""
    started = time.monotonic()
    forget_words()
    forget_characters()
    # A session and its script refer to each other, so only the collector frees them.
    if visits.is_anybody_here:
        gc.collect()
    else:
        queue.forget_unasked()
        # Results lie among freed memory, which goes back in whole pages only. Those made when the
        # server started don't; if they were made again, they would.
        server_cache.forget_all_but_lasting()
        # If someone was there when it was settled before, the collector has left their session out.
        gc.unfreeze()
        settle_memory()
    # glibc keeps what is freed for the process: 300 MB after 12 visits with 10 MB each.
    _call_c_library("malloc_trim", 0)
    seconds = round(time.monotonic() - started, 3)
    event("sessions_ended", sessions=n_closed, seconds=seconds)


def use_small_pages() -> None:
    """Let the system give this process memory in small pages alone, as far as it can be told.

    NumPy asks for huge pages for large arrays, and some systems use them for everything. Linux then
    fills one up when a single small page of it is in use: after 12 visits, 326 MB became 367 MB
    within 90 seconds. Training and encoding take as long either way.
    """
    _call_c_library("prctl", _PR_SET_THP_DISABLE, 1, 0, 0, 0)


def _call_c_library(function: str, *arguments: int) -> None:
    # Other C libraries lack such functions, and on Windows no library has no name.
    with suppress(OSError, AttributeError, TypeError):
        getattr(ctypes.CDLL(None), function)(*map(ctypes.c_ulong, arguments))


def note_request() -> None:
    """Note that a page is being requested, so that warming up waits."""
    global _last_request
    _last_request = time.monotonic()


def warm_up_start() -> None:
    """Import what the first page needs; whatever else came first would delay its visitor."""
    for name in ("shell.frame", "shell.open_run", "components.start_loop", "components.story"):
        import_module(f"ui.{name}")


def settle_memory() -> None:
    """Exclude the imported modules from garbage collection.

    Without the freeze, each full collection walks all modules and holds the interpreter's lock for
    tens of milliseconds. Streamlit's own collection after each rerun is off in
    .streamlit/config.toml; Python's remain.
    """
    gc.collect()
    gc.freeze()


def warm_up_rest(before_each: Callable[[], None] | None = None) -> None:
    """Do the same for the other pages: several seconds of work, in many small parts.

    A damaged sample is not an error here, because the page reports it.
    """
    for part in _parts():
        if before_each is not None:
            before_each()
        with suppress(BpeError):
            part()


def warm_up_rest_in_background() -> None:
    """Start `warm_up_rest` in a thread that pauses while pages are requested.

    Python threads take turns, so a page drawn at the same time would take twice as long.
    """
    started = time.monotonic()

    def warm_up() -> None:
        warm_up_rest(_wait_for_quiet)
        event("warmed_up", seconds=round(time.monotonic() - started, 3))

    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()


def _wait_for_quiet() -> None:
    while time.monotonic() - _last_request < _QUIET_SECONDS:
        time.sleep(_SECONDS_BETWEEN_CHECKS)


def _parts() -> Iterator[Callable[[], object]]:
    # Train first, because it computes the most before it shows anything.
    for name in ("train.forms", "train.result_card", "run.page_parts"):
        yield partial(import_module, f"ui.{name}")
    yield _compute_what_train_shows
    for module in walk_packages([str(_UI)], "ui."):
        yield partial(import_module, module.name)
    yield _warm_up_merge_loop
    # It encodes long texts.
    yield partial(import_module, "bpe_core.tokenizer.compiled")
    yield _load_gpt2
    yield _settle


def _compute_what_train_shows() -> None:
    from bpe_core.corpus import load_sample, samples
    from bpe_core.types import TrainingConfig
    from ui.corpus import HELD_OUT_PERCENT
    from ui.run import corpus_summary, downloads, run_curves
    from ui.storage import SAMPLE_RUN_ID

    run_curves(SAMPLE_RUN_ID)
    downloads(SAMPLE_RUN_ID)
    corpus = load_sample(samples()[0].id)
    parts = corpus_summary.divided(corpus, HELD_OUT_PERCENT / 100)
    for part in parts:
        corpus_summary.composition(part)
    training, config = parts[0], TrainingConfig()
    corpus_summary.pretoken_figures(training, config.pretokenizer)
    corpus_summary.largest_size(training, config)


def _warm_up_merge_loop() -> None:
    from ui.merge_loop import player_run
    from ui.run import run_figures
    from ui.storage import SAMPLE_RUN_ID

    player_run.player_run(SAMPLE_RUN_ID)
    player_run.player_block(SAMPLE_RUN_ID, None, run_figures.opening_step(SAMPLE_RUN_ID))


def _load_gpt2() -> None:
    from bpe_core.tokenizer import gpt2

    gpt2()


def _settle() -> None:
    server_cache.note_lasting()
    # Once more, because most modules were imported since the server started.
    settle_memory()
