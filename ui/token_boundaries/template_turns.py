"""Let chat templates run in turn, so that slow ones make only each other wait."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import Final

from bpe_core.chat import TooMuchError
from ui.work import TooMuchWorkError

_MAX_WAIT_SECONDS: Final = 5.0
_SECONDS_REFUSED: Final = 60.0
_MAX_KNOWN: Final = 1_000


class TemplateTurns:
    """The places in which templates run, each in a process that may take a gigabyte.

    Those that have finished before have places of their own. One that took too much is refused for
    a minute, since it would take as much again.
    """

    def __init__(self) -> None:
        self._proven = BoundedSemaphore(2)
        self._others = BoundedSemaphore(2)
        self._lock = Lock()
        self._known: OrderedDict[str, tuple[float, str]] = OrderedDict()
        """When each template was refused, and why; "" for one that finished."""

    @contextmanager
    def of(self, template: str) -> Generator[None]:
        """Wait for a place to run a template, which is known by its text.

        Raises TooMuchWorkError if none gets free in a few seconds, and TooMuchError for a template
        that took too much a short while ago.
        """
        with self._lock:
            refused, why = self._known.get(template, (None, ""))
        if why and refused is not None and time.monotonic() - refused < _SECONDS_REFUSED:
            raise TooMuchError(why)
        places = self._others if refused is None or why else self._proven
        if not places.acquire(timeout=_MAX_WAIT_SECONDS):
            raise TooMuchWorkError(
                "Other visitors' chat templates are slow right now. Try again in a few seconds."
            )
        why = ""
        try:
            yield
        except TooMuchError as error:
            why = str(error)
            raise
        finally:
            places.release()
            with self._lock:
                self._known[template] = time.monotonic(), why
                self._known.move_to_end(template)
                if len(self._known) > _MAX_KNOWN:
                    self._known.popitem(last=False)


turns: Final = TemplateTurns()
