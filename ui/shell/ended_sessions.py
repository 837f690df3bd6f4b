"""Release the memory of sessions whose tabs are closed.

Streamlit keeps a session for two minutes after its tab is gone, in case it reconnects, and then
until another session starts or ends. This module closes it after `SECONDS_AWAY` and frees its share
of the server's memory.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

from streamlit import runtime
from streamlit.runtime import Runtime

from bpe_core.tokenizer.tokenizer_kernels import forget_words
from bpe_core.unicode.kinds import forget_characters
from ui.components.token_view.packing import forget_first_merges
from ui.logs import event
from ui.memory.allocator import give_back_freed
from ui.memory.sized_cache import SizedCache, server_cache
from ui.settings import settings
from ui.shell import workspace
from ui.work.background import forget_large_results

SECONDS_AWAY: Final = settings().seconds_away
"""How long a session is kept after its tab is gone: a laptop may sleep, or a network fail."""
SECONDS_BETWEEN_LOOKS: Final = 5.0
_log = logging.getLogger(__name__)


class Sessions(Protocol):
    """A server's sessions; all calls are on its event loop."""

    def away(self) -> dict[str, bool]:
        """Return for each session whether its tab is gone."""
        ...

    def close(self, id: str) -> None:
        """Close a session and free its uploads."""
        ...


@dataclass(frozen=True, slots=True)
class StreamlitsSessions:
    """The sessions of Streamlit's runtime."""

    of: Runtime

    def away(self) -> dict[str, bool]:
        """Return for each session whether its tab is gone."""
        # Streamlit has no public way to list them.
        manager = self.of._session_mgr  # pyright: ignore[reportPrivateUsage]
        here = {info.session.id for info in manager.list_active_sessions()}
        return {info.session.id: info.session.id not in here for info in manager.list_sessions()}

    def close(self, id: str) -> None:
        """Close a session and free its uploads and its state."""
        manager = self.of._session_mgr  # pyright: ignore[reportPrivateUsage]
        sessions = [info.session for info in manager.list_sessions() if info.session.id == id]
        self.of.close_session(id)
        for session in sessions:
            # Without connections, Streamlit's loop refers to the session that it served last until
            # there is another one.
            workspace.free_state(session)


class EndedSessions:
    """Close sessions whose tabs are gone, and drop what the cache holds for them."""

    def __init__(
        self,
        sessions: Sessions,
        cache: SizedCache,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._cache = cache
        self._clock = clock
        self._away_since: dict[str, float] = {}
        self.nobody_is_here = False
        """Whether no session was left at the last look."""

    def look(self) -> int:
        """Close the sessions that have been away for long; return how many sessions have ended."""
        # Before the sessions are listed: one that begins meanwhile has not ended.
        known = self._cache.visitors()
        now = self._clock()
        here: set[str] = set()
        for id, is_away in self._sessions.away().items():
            if not is_away:
                self._away_since.pop(id, None)
            elif now - self._away_since.setdefault(id, now) >= SECONDS_AWAY:
                self._sessions.close(id)
                continue
            here.add(id)
        self.nobody_is_here = not here
        ended = known - here | self._away_since.keys() - here
        for id in ended:
            self._away_since.pop(id, None)
            self._cache.leave(id)
        return len(ended)

    def close_longest_away(self) -> bool:
        """Close the session that has been away for longest; return False if none is away."""
        if not self._away_since:
            return False
        id = min(self._away_since, key=lambda each: self._away_since[each])
        self._sessions.close(id)
        self._cache.leave(id)
        del self._away_since[id]
        return True


@cache
def of_server() -> EndedSessions:
    """Return this server's; call it on the event loop, once Streamlit's runtime has begun."""
    return EndedSessions(StreamlitsSessions(runtime.get_instance()), server_cache)


async def give_back_regularly() -> None:
    """Look for ended sessions every few seconds, on the server's event loop, until cancelled."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            if n_ended := of_server().look():
                await asyncio.to_thread(_collect, n_ended, of_server().nobody_is_here)
        except Exception:
            # A server runs for months: what fails now may work in a moment.
            _log.exception("Cannot look for ended sessions.")


def _collect(n_ended: int, nobody_is_here: bool) -> None:
    """Free what the ended sessions held, in a thread so that others are served meanwhile."""
    forget_first_merges()
    forget_words()
    forget_characters()
    if nobody_is_here:
        # Results lie among freed memory, which goes back in whole pages only. Those made when the
        # server started don't; if they were made again, they would.
        server_cache.forget_all_but_lasting()
        forget_large_results()
    else:
        server_cache.measure_again()
    started = time.monotonic()
    # A session and its script refer to each other, so only the collector frees them.
    gc.collect()
    collected = time.monotonic()
    give_back_freed()
    event(
        "sessions_ended",
        sessions=n_ended,
        seconds_collecting=round(collected - started, 3),
        seconds_giving_back=round(time.monotonic() - collected, 3),
    )
