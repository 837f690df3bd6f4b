"""Bound how much of the store the runs of one visitor take."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BufferedWriter
from pathlib import Path
from typing import Final

from bpe_core.regular_files import read_regular
from bpe_core.store.entries import size_of
from bpe_core.store.place import is_id, make_store_folder, store_folder
from bpe_core.whole_files import write_whole
from ui.logs import event
from ui.settings import settings
from ui.work.addresses import addresses, share_of_address
from ui.work.background import TooMuchWorkError

MOST_BYTES: Final = settings().visitor_store_megabytes * 1_000_000
_SECONDS_COUNTED: Final = 86_400
"""As long as the store keeps what was opened: see `ui.storage.sweeping`."""
FILE_NAME: Final = "visitors.jsonl"


class VisitorRuns:
    """The trainings that each visitor began within a day.

    With `is_kept_on_disk`, they are in a file of the store, so that a restart forgets none. What is
    older than a day leaves the file when the next training is asked for, or the server starts.
    """

    def __init__(
        self,
        most_bytes: int = MOST_BYTES,
        now: Callable[[], float] = time.time,
        *,
        is_kept_on_disk: bool = False,
    ) -> None:
        self._most_bytes = most_bytes
        self._now = now
        self._is_kept_on_disk = is_kept_on_disk
        self._lock = threading.Lock()
        self._begun: dict[str, dict[str, float]] = _read() if is_kept_on_disk else {}
        self._begun_from: dict[str, dict[str, float]] = {}
        """By the code of the network address, which is never kept on disk."""
        self._forget_old()

    def note(self, visitor: str, run_id: str) -> None:
        """Count a run as the visitor's once it is stored; it may never be."""
        if not visitor:
            return
        with self._lock:
            self._begun.setdefault(visitor, {})[run_id] = self._now()
            if address := addresses.of(visitor):
                self._begun_from.setdefault(address, {})[run_id] = self._now()
            if self._is_kept_on_disk:
                # Without room for it on the disk, it counts until the server stops.
                with suppress(OSError), _opened_to_append() as file:
                    file.write(_line_of(visitor, run_id, self._now()).encode())

    def check(self, visitor: str) -> None:
        """Raise TooMuchWorkError if the visitor's runs of a day take more than their share.

        Or if those from the visitor's network address take more than that address's.
        """
        with self._lock:
            self._forget_old()
            ids = list(self._begun.get(visitor, ()))
            ids_from_address = list(self._begun_from.get(addresses.of(visitor), ()))
        n_bytes = _size_of_runs(ids)
        if n_bytes > self._most_bytes:
            event("visitor_store_full", megabytes=n_bytes // 1_000_000)
            raise TooMuchWorkError(
                f"Your runs of the last 24 hours take {n_bytes / 1e6:,.0f} MB on this server, and "
                f"one visitor may have {self._most_bytes / 1e6:,.0f} MB. They stay; train again "
                "tomorrow, or install BPE Explorer on your own computer."
            )
        n_bytes = _size_of_runs(ids_from_address)
        most_bytes = share_of_address(self._most_bytes)
        if n_bytes > most_bytes:
            event("address_store_full", megabytes=n_bytes // 1_000_000)
            raise TooMuchWorkError(
                f"The last 24 hours' runs from your network address take {n_bytes / 1e6:,.0f} MB "
                f"on this server, and one address may have {most_bytes / 1e6:,.0f} MB. They stay; "
                "train again tomorrow, or install BPE Explorer on your own computer."
            )

    def _forget_old(self) -> None:
        oldest = self._now() - _SECONDS_COUNTED
        _without_old(self._begun_from, oldest)
        if _without_old(self._begun, oldest) and self._is_kept_on_disk:
            with suppress(OSError):
                write_whole(_file(), self._lines().encode())

    def _lines(self) -> str:
        return "".join(
            _line_of(visitor, id, at)
            for visitor, begun in self._begun.items()
            for id, at in begun.items()
        )


def _without_old(of_each: dict[str, dict[str, float]], oldest: float) -> bool:
    """Remove what began before `oldest`; return whether anything did."""
    is_any_old = False
    for name, begun in list(of_each.items()):
        kept = {id: at for id, at in begun.items() if at >= oldest}
        is_any_old |= len(kept) < len(begun)
        if kept:
            of_each[name] = kept
        else:
            del of_each[name]
    return is_any_old


def _size_of_runs(ids: Iterable[str]) -> int:
    n_bytes = 0
    for id in ids:
        # Not stored yet, or deleted since.
        with suppress(OSError):
            n_bytes += size_of(store_folder() / id)
    return n_bytes


def _file() -> Path:
    return make_store_folder() / FILE_NAME


def _opened_to_append() -> BufferedWriter:
    # Not a pipe in its place, which would wait for a reader.
    nonblocking: int = getattr(os, "O_NONBLOCK", 0)
    return open(_file(), "ab", opener=lambda path, flags: os.open(path, flags | nonblocking, 0o666))


def _line_of(visitor: str, run_id: str, at: float) -> str:
    return json.dumps([visitor, run_id, round(at)]) + "\n"


def _read() -> dict[str, dict[str, float]]:
    """Return the file's entries; a line that is damaged, or that a crash cut off, is left out."""
    begun: dict[str, dict[str, float]] = {}
    try:
        lines = read_regular(store_folder() / FILE_NAME).decode("utf-8", "replace").splitlines()
    except OSError:
        return begun
    for line in lines:
        with suppress(ValueError, TypeError):
            visitor, run_id, at = json.loads(line)
            # An id becomes part of a path.
            if is_id(run_id):
                begun.setdefault(str(visitor), {})[run_id] = float(at)
    return begun
