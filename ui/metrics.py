"""Serve figures about the server at /metrics, in Prometheus's text format, if the setting is on.

They count visitors, trainings, memory and the store; nothing tells one visitor from another.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.stats import ACTIVE_SESSIONS_FAMILY

from ui.memory.sized_cache import server_cache
from ui.memory.uploads import MOST_BYTES_OF_ALL, bytes_held_by_all
from ui.settings import settings
from ui.storage.store_size import StoreSize, store_size
from ui.work import jobs

_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_OF_STREAMLIT: Final = "/_stcore/metrics"
_SECONDS_A_SIZE_HOLDS: Final = 60.0
_NOT_FOUND: Final = PlainTextResponse("Not found", status_code=404)


class Figure(NamedTuple):
    """One figure: its name without the prefix, its explanation, and its value."""

    name: str
    help: str
    value: int


class CachedSize:
    """The store's size, measured at most once a minute."""

    def __init__(
        self,
        measure: Callable[[], StoreSize] = store_size,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._measure = measure
        self._clock = clock
        self._lock = Lock()
        self._last: tuple[float, StoreSize] | None = None

    def __call__(self) -> StoreSize:
        """Return the size."""
        with self._lock:
            now = self._clock()
            if self._last is None or now - self._last[0] > _SECONDS_A_SIZE_HOLDS:
                self._last = now, self._measure()
            return self._last[1]


_size: Final = CachedSize()


def routes() -> list[Route]:
    """Return the route of /metrics, which does not exist for visitors unless the setting is on."""
    return [Route("/metrics", _metrics if settings().metrics else _not_found)]


class WithoutStreamlitsMetrics:
    """Hide Streamlit's own figures, which it serves to everybody."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it is for those figures."""
        path = scope.get("path", "").rstrip("/")
        app = _NOT_FOUND if path.endswith(_OF_STREAMLIT) else self._app
        await app(scope, receive, send)


def text_of(figures: list[Figure]) -> str:
    """Return figures in Prometheus's text format.

    >>> print(text_of([Figure("visitors", "Open tabs.", 2)]), end="")
    # HELP bpe_explorer_visitors Open tabs.
    # TYPE bpe_explorer_visitors gauge
    bpe_explorer_visitors 2
    """
    return "".join(
        f"# HELP bpe_explorer_{name} {help}\n"
        f"# TYPE bpe_explorer_{name} gauge\n"
        f"bpe_explorer_{name} {value}\n"
        for name, help, value in figures
    )


def figures() -> list[Figure]:
    """Return the figures of this server at the moment."""
    manager, size, cached = jobs.manager(), _size(), server_cache.n_bytes
    return [
        Figure("visitors", "Browser tabs connected at the moment.", _visitors()),
        Figure("trainings_waiting", "Trainings in the queue.", manager.count("queued")),
        Figure("trainings_running", "Trainings that run, at most one.", manager.count("running")),
        Figure("queue_limit", "Trainings that may wait.", settings().queue),
        Figure("memory_bytes", "Resident memory of the server's process.", resident_bytes()),
        Figure("uploads_bytes", "Uploaded files in memory.", _uploads()),
        Figure("uploads_limit_bytes", "The limit for them.", MOST_BYTES_OF_ALL),
        Figure("caches_bytes", "Results kept in memory to open pages sooner.", cached),
        Figure("caches_results", "The number of these results.", len(server_cache)),
        Figure("caches_limit_bytes", "The limit for them.", server_cache.most_bytes),
        Figure("store_runs", "Runs kept on disk.", size.runs),
        Figure("store_uploads", "Texts and files of visitors kept on disk.", size.uploads),
        Figure("store_bytes", "Bytes of all of them, measured once a minute.", size.n_bytes),
    ]


def resident_bytes() -> int:
    """Return the resident memory of this process; 0 where /proc does not exist."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _visitors() -> int:
    families = runtime.get_instance().stats_mgr.get_stats([ACTIVE_SESSIONS_FAMILY])
    stats = families.get(ACTIVE_SESSIONS_FAMILY, [])
    return sum(int(getattr(stat, "value", 0)) for stat in stats)


def _uploads() -> int:
    return sum(bytes_held_by_all(runtime.get_instance().uploaded_file_mgr))


# Not async, so that Starlette runs it in a thread: measuring the store reads the disk.
def _metrics(_: Request) -> Response:
    return PlainTextResponse(text_of(figures()), media_type=_CONTENT_TYPE)


def _not_found(_: Request) -> Response:
    return _NOT_FOUND
