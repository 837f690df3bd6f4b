"""Serve figures about the server at /metrics, for Prometheus, if the setting is on.

They count visitors, trainings, memory and the store; nothing tells one visitor from another.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Gauge,
    ProcessCollector,
    generate_latest,
)
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import runtime
from streamlit.runtime.stats import ACTIVE_SESSIONS_FAMILY

from bpe_core.files import UPLOAD_PREFIX, is_entry_name, store_folder
from ui.host import cached, server_cache, settings
from ui.shell import MAX_BYTES_OF_ALL, bytes_held
from ui.work import jobs, queue

_SECONDS_A_SIZE_HOLDS: Final = 60.0


def routes() -> list[Route]:
    """Return the route of /metrics, which does not exist for visitors unless the setting is on."""
    return [Route("/metrics", _metrics if settings().metrics else _not_found)]


@cache
def registry() -> CollectorRegistry:
    """Return the figures of this server, read when they are asked for."""
    found = CollectorRegistry()
    ProcessCollector(registry=found)
    for name, help, value in (
        ("visitors", "Browser tabs connected at the moment.", _visitors),
        ("trainings_waiting", "Trainings in the queue.", lambda: queue.count(jobs.TRAIN, "queued")),
        ("trainings_running", "Trainings that run.", lambda: queue.count(jobs.TRAIN, "running")),
        ("queue_limit", "Trainings that may wait.", lambda: settings().queue),
        ("uploads_bytes", "Uploaded files in memory.", _uploads),
        ("uploads_limit_bytes", "The limit for them.", lambda: MAX_BYTES_OF_ALL),
        ("caches_bytes", "Results kept in memory.", lambda: server_cache.n_bytes),
        ("caches_results", "The number of these results.", lambda: len(server_cache)),
        ("caches_limit_bytes", "The limit for them.", lambda: server_cache.max_bytes),
        ("store_runs", "Runs kept on disk.", lambda: _size().runs),
        ("store_uploads", "Texts and files kept on disk.", lambda: _size().uploads),
        ("store_bytes", "Bytes of all that is kept on disk.", lambda: _size().n_bytes),
    ):
        Gauge(name, help, namespace="bpe_explorer", registry=found).set_function(value)
    return found


# It takes about 0.3 s for thousands of entries.
@cached(seconds=_SECONDS_A_SIZE_HOLDS)
def _size() -> StoreSize:
    return store_size()


def _visitors() -> int:
    families = runtime.get_instance().stats_mgr.get_stats([ACTIVE_SESSIONS_FAMILY])
    stats = families.get(ACTIVE_SESSIONS_FAMILY, [])
    return sum(int(getattr(stat, "value", 0)) for stat in stats)


def _uploads() -> int:
    return sum(bytes_held(runtime.get_instance().uploaded_file_mgr).values())


# Not async, so that Starlette runs it in a thread: measuring the store reads the disk.
def _metrics(_: Request) -> Response:
    return Response(generate_latest(registry()), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def _not_found(_: Request) -> Response:
    return PlainTextResponse("Not found", status_code=404)


class StoreSize(NamedTuple):
    """What the store keeps at the moment."""

    runs: int
    uploads: int
    n_bytes: int


def store_size() -> StoreSize:
    """Count the store's entries and bytes; a store that cannot be read has none.

    Takes about 0.3 s for thousands of entries.
    """
    runs = uploads = n_bytes = 0
    # Entries may be deleted meanwhile.
    with suppress(OSError):
        for entry in store_folder().iterdir():
            if not is_entry_name(entry.name):
                continue
            with suppress(OSError):
                n_bytes += sum(file.lstat().st_size for file in entry.iterdir())
            if entry.name.startswith(UPLOAD_PREFIX):
                uploads += 1
            else:
                runs += 1
    return StoreSize(runs, uploads, n_bytes)
