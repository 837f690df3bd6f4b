"""Bound how much of the store the runs of one visitor take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from bpe_core.store.entries import size_of
from bpe_core.store.place import store_folder
from ui.logs import event
from ui.settings import settings
from ui.work.background import TooMuchWorkError

MOST_BYTES: Final = settings().visitor_store_megabytes * 1_000_000
_SECONDS_COUNTED: Final = 86_400
"""As long as the store keeps what was opened: see `ui.storage.sweeping`."""


class VisitorRuns:
    """The trainings that each visitor began within a day, on this server."""

    def __init__(
        self, most_bytes: int = MOST_BYTES, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._most_bytes = most_bytes
        self._now = now
        self._begun: dict[str, dict[str, float]] = {}
        self._lock = threading.Lock()

    def note(self, visitor: str, run_id: str) -> None:
        """Count a run as the visitor's once it is stored; it may never be."""
        if visitor:
            with self._lock:
                self._begun.setdefault(visitor, {})[run_id] = self._now()

    def check(self, visitor: str) -> None:
        """Raise TooMuchWorkError if the visitor's runs of a day take more than their share."""
        with self._lock:
            self._forget_old()
            ids = list(self._begun.get(visitor, ()))
        n_bytes = 0
        for id in ids:
            # Not stored yet, or deleted since.
            with suppress(OSError):
                n_bytes += size_of(store_folder() / id)
        if n_bytes > self._most_bytes:
            event("visitor_store_full", megabytes=n_bytes // 1_000_000)
            raise TooMuchWorkError(
                f"Your runs of the last 24 hours take {n_bytes / 1e6:,.0f} MB on this server, and "
                f"one visitor may have {self._most_bytes / 1e6:,.0f} MB. They stay; train again "
                "tomorrow, or install BPE Explorer on your own computer."
            )

    def _forget_old(self) -> None:
        oldest = self._now() - _SECONDS_COUNTED
        for visitor, begun in list(self._begun.items()):
            kept = {id: at for id, at in begun.items() if at >= oldest}
            if kept:
                self._begun[visitor] = kept
            else:
                del self._begun[visitor]
