"""Free the memory of visits whose tabs are closed.

Streamlit keeps a session after its tab is closed, in case it reconnects, and then until another
session starts or ends. This closes it before, and frees what the server kept for it.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from streamlit import config, runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bpe_core.tokenizer import forget_words
from bpe_core.unicode import forget_characters
from ui.host import event, server_cache

SECONDS_AWAY: Final = 0.75 * config.get_option("server.disconnectedSessionTTL")
"""How long a session is kept after its tab is closed: a laptop may sleep, or a network fail. After
all of Streamlit's time it cannot be closed any more."""
_SECONDS_BETWEEN_LOOKS: Final = SECONDS_AWAY / 16
_log = logging.getLogger(__name__)


class Sessions(Protocol):
    """What is used of Streamlit's runtime, on its event loop."""

    def is_active_session(self, session_id: str) -> bool:
        """Return whether a session has a tab."""
        ...

    def close_session(self, session_id: str) -> None:
        """End a session and free its state and its uploads."""
        ...


class EndedVisits:
    """The sessions that drew a page, and since when their tabs are closed.

    >>> visits = EndedVisits(clock=lambda: 0.0)
    >>> visits.note("a session")
    >>> visits.is_anybody_here
    True
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._away_since: dict[str, float | None] = {}

    @property
    def is_anybody_here(self) -> bool:
        """Whether there is a session that has not been closed."""
        return bool(self._away_since)

    def note(self, session_id: str) -> None:
        """Note that a session draws a page."""
        self._away_since[session_id] = None

    def close(self, sessions: Sessions) -> int:
        """Close the sessions that have been away for long; return how many."""
        now = self._clock()
        n_closed = 0
        for id, since in list(self._away_since.items()):
            if sessions.is_active_session(id):
                self._away_since[id] = None
            elif since is None:
                self._away_since[id] = now
            elif now - since >= SECONDS_AWAY:
                sessions.close_session(id)
                del self._away_since[id]
                n_closed += 1
        return n_closed


visits: Final = EndedVisits()
"""Those of this server."""


def note_visit() -> None:
    """Note that the session of this script draws a page."""
    context = get_script_run_ctx()
    if context is not None:
        visits.note(context.session_id)


async def close_regularly() -> None:
    """Close ended visits every few seconds, on the server's event loop, until cancelled."""
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        try:
            if n_closed := visits.close(runtime.get_instance()):
                await asyncio.to_thread(_collect, n_closed)
        except Exception:
            # A server runs for months: what fails now may work in a moment.
            _log.exception("Cannot close ended visits.")


def _collect(n_closed: int) -> None:
    """Free what the closed sessions held, in a thread so that others are served meanwhile."""
    started = time.monotonic()
    forget_words()
    forget_characters()
    if not visits.is_anybody_here:
        # Results lie among freed memory, which goes back in whole pages only. Those made when the
        # server started don't; if they were made again, they would.
        server_cache.forget_all_but_lasting()
    # A session and its script refer to each other, so only the collector frees them.
    gc.collect()
    # glibc keeps what is freed for the process: 300 MB after 12 visits with 10 MB each. Other C
    # libraries have no such function, and on Windows no library has no name.
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    seconds = round(time.monotonic() - started, 3)
    event("sessions_ended", sessions=n_closed, seconds=seconds)
