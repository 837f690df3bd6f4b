"""Let chat templates run in turn, so that slow ones make only their own visitors wait long."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import Condition
from typing import Any, Final, NamedTuple

from bpe_core.chat import TooMuchError
from ui.work import TooMuchWorkError, current_visitor

_MAX_WAIT_SECONDS: Final = 60.0
_SECONDS_KNOWN: Final = 60.0
"""How long a template is refused that took too much, and a pause after which what a visitor has
used no longer counts."""
_MAX_KNOWN: Final = 1_000
_PLACES: Final = 4
_NEW_PLACES: Final = 2


class Turn(NamedTuple):
    """A template that waits or runs."""

    number: int
    visitor: str
    is_new: bool
    """True until the template has finished once."""


def next_turn(
    waiting: Sequence[Turn], running: Sequence[Turn], seconds_of: Callable[[str], float]
) -> Turn | None:
    """Return which template may begin now, or None.

    A visitor has one at a time, and the visitor who has used the least comes first.

    >>> slow, again, other = Turn(1, "a", True), Turn(2, "a", True), Turn(3, "b", True)
    >>> next_turn([again, other], [slow], {"a": 2.0, "b": 0.0}.__getitem__)
    Turn(number=3, visitor='b', is_new=True)
    """
    if len(running) >= _PLACES:
        return None
    takes_new = sum(turn.is_new for turn in running) < _NEW_PLACES
    busy = {turn.visitor for turn in running}
    free = (each for each in waiting if each.visitor not in busy and takes_new >= each.is_new)
    return min(free, key=lambda turn: (seconds_of(turn.visitor), turn.number), default=None)


class TemplateTurns:
    """The places in which templates run, each in a process that may take a gigabyte.

    Two of four are for templates that have finished before. One that took too much is refused to
    the same visitor for a minute, since it would take as much again.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._numbers = count()
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []
        self._finished: OrderedDict[str, None] = OrderedDict()
        """The templates that have finished."""
        self._refused: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()
        """By template and visitor, when it took too much, and the error."""
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By visitor, when a template last ended, and the seconds of all since a minute's pause."""

    @contextmanager
    def of(self, template: str, visitor: str | None = None) -> Generator[None]:
        """Wait for a place to run a template, which is known by its text.

        The visitor is that of this session, unless another is given. Raises TooMuchWorkError if no
        place gets free in a minute, and TooMuchError for a template that took too much a short
        while ago.
        """
        visitor = current_visitor() if visitor is None else visitor
        with self._changed:
            when, why = self._refused.get((template, visitor), (0.0, ""))
            if why and time.monotonic() - when < _SECONDS_KNOWN:
                raise TooMuchError(why)
            turn = Turn(next(self._numbers), visitor, template not in self._finished)
            self._waiting.append(turn)
            try:
                if not self._changed.wait_for(
                    lambda: next_turn(self._waiting, self._running, self._seconds) is turn,
                    _MAX_WAIT_SECONDS,
                ):
                    raise TooMuchWorkError(
                        "Chat templates are slow right now. Try again in a minute."
                    )
                self._running.append(turn)
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()
        started, why = time.monotonic(), ""
        try:
            yield
        except TooMuchError as error:
            why = str(error)
            raise
        finally:
            with self._changed:
                self._running.remove(turn)
                now = time.monotonic()
                _keep(self._used, visitor, (now, self._seconds(visitor) + now - started))
                if why:
                    _keep(self._refused, (template, visitor), (now, why))
                else:
                    _keep(self._finished, template, None)
                self._changed.notify_all()

    def _seconds(self, visitor: str) -> float:
        """Return how long a visitor's templates have taken since the last pause of a minute."""
        when, seconds = self._used.get(visitor, (0.0, 0.0))
        return seconds if time.monotonic() - when < _SECONDS_KNOWN else 0.0


def _keep(known: OrderedDict[Any, Any], key: object, value: object) -> None:
    known[key] = value
    known.move_to_end(key)
    if len(known) > _MAX_KNOWN:
        known.popitem(last=False)


turns: Final = TemplateTurns()
