"""Run work in a background thread, one piece after another: queue, progress, cancel, result."""

from __future__ import annotations

import atexit
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from itertools import count, zip_longest
from threading import Condition, Thread
from typing import Any, Final, Generic

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bpe_core.errors import BpeError
from ui.host import event, log_unforeseen, server_cache
from ui.work.task import Progress, Result, State, Status, Step, Task, Work

_SECONDS_TO_END: Final = 2.0
_ENDS_PROGRAM: Final = (KeyboardInterrupt, SystemExit)
_BROWSER: Final = "_streamlit_xsrf"
"""The cookie that Streamlit gives each browser."""


class UnknownWorkError(BpeError):
    """No work has this id."""


class TooMuchWorkError(BpeError):
    """The queue is full, or the visitor has no place left in it."""


@dataclass(slots=True, eq=False)
class _Piece(Generic[Step, Result]):
    id: str
    about: str
    visitor: str
    number: int
    """Pieces and turns are numbered together, as they come."""
    work: Work[Step, Result] | None
    """None once it has ended, because the data it works on may be large."""
    task: Task[Step]
    state: State = "queued"
    turn: int = 0
    """The number of its turn; 0 until then, and for short work, which keeps nobody waiting."""
    started: float = 0.0
    elapsed_seconds: float = 0.0
    problem: str | None = None

    @property
    def is_live(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def has_result(self) -> bool:
        return self.state == "finished"


def in_turn(pieces: Iterable[_Piece[Any, Any]]) -> list[_Piece[Any, Any]]:
    """Return the queued pieces in the order in which they will run.

    In each round every visitor has a turn, and whoever was served last comes last; the pieces of
    one visitor stay in order.
    """
    last_turns: dict[str, int] = {}
    queued: dict[str, list[_Piece[Any, Any]]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.number):
        last_turns[piece.visitor] = max(piece.turn, last_turns.get(piece.visitor, 0))
        if piece.state == "queued":
            queued.setdefault(piece.visitor, []).append(piece)
    visitors = sorted(queued, key=lambda name: (last_turns[name], queued[name][0].number))
    rounds = zip_longest(*(queued[name] for name in visitors))
    return [piece for of_round in rounds for piece in of_round if piece is not None]


class Background(Generic[Step, Result]):
    """Run pieces of work one after another in a thread, and remember the latest results.

    Visitors take turns, and with `max_per_visitor` each can have that many pieces queued or
    running. Results are in `server_cache`; work whose result it dropped is forgotten.
    """

    def __init__(
        self,
        name: str,
        *,
        max_waiting: int,
        max_cached: int,
        max_per_visitor: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_waiting = max_waiting
        self._max_cached = max_cached
        self._max_per_visitor = max_per_visitor
        self._clock = clock
        self._changed = Condition()
        self._is_closed = False
        self._numbers = count(1)
        self._known: OrderedDict[str, _Piece[Step, Result]] = OrderedDict()
        # A daemon, unlike a pool's threads, so that the interpreter can exit without waiting.
        self._thread = Thread(target=self._work_on_all, name=name, daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def begin(
        self,
        id: str,
        work: Work[Step, Result],
        *,
        about: str = "",
        visitor: str | None = None,
        is_short: bool = False,
    ) -> Status[Step, Result]:
        """Queue a piece of work, unless one with this id exists already, and return its status.

        It is for the visitor of this session, unless another is given. Short work is done before
        this returns. Raises `TooMuchWorkError` if the queue is full, or the visitor has too many
        pieces in it; an empty `visitor` may have any number. If the program is asked to exit during
        short work, that exception passes through and the work is forgotten.
        """
        visitor = current_visitor() if visitor is None else visitor
        with self._changed:
            if self._known_piece(id) is not None:
                return self.status(id)
            if not is_short:
                self.check_places(visitor)
            ended = [known for known, piece in self._known.items() if not piece.is_live]
            for old in ended[: max(0, len(self._known) - self._max_cached + 1)]:
                del self._known[old]
            piece = _Piece(id, about, visitor, next(self._numbers), work, Task(self._clock))
            self._known[id] = piece
            if is_short:
                self._start(piece)
            else:
                self._changed.notify()
        if is_short:
            self._do(piece, lets_through=_ENDS_PROGRAM)
        return self.status(id)

    def check_places(self, visitor: str) -> None:
        """Raise `TooMuchWorkError` if a visitor's work would be refused now."""
        with self._changed:
            waiting = self.count("queued")
            if waiting >= self._max_waiting:
                event("queue_full", "warning", waiting=waiting)
                raise TooMuchWorkError(f"{waiting} others are already waiting. Try again soon.")
            if not visitor or self._max_per_visitor is None:
                return
            own = sum(piece.is_live and piece.visitor == visitor for piece in self._known.values())
            if own >= self._max_per_visitor:
                event("visitor_queue_full", waiting=waiting)
                raise TooMuchWorkError(
                    f"You already have {own} running or waiting, the most that one visitor may "
                    "have. Wait until one has ended, or cancel one."
                )

    def status(self, id: str) -> Status[Step, Result]:
        """Return a snapshot of a piece of work; raise `UnknownWorkError` for an unknown id."""
        with self._changed:
            piece = self._find(id)
            result: Result | None = server_cache.find((self, id)) if piece.has_result else None
            self._known.move_to_end(id)
            progress, reported_at = piece.task.last_report or (None, self._clock())
            return Status(
                id=id,
                about=piece.about,
                state=piece.state,
                n_ahead=self._n_ahead(piece) if piece.state == "queued" else 0,
                progress=progress,
                is_stopping=piece.state == "running" and piece.task.is_cancelled,
                elapsed_seconds=self._clock() - piece.started
                if piece.state == "running"
                else piece.elapsed_seconds,
                seconds_since_report=self._clock() - reported_at,
                result=result,
                problem=piece.problem,
            )

    def find(self, id: str) -> Status[Step, Result] | None:
        """Return a snapshot of a piece of work, or None for an unknown id."""
        try:
            return self.status(id)
        except UnknownWorkError:
            return None

    def count(self, state: State) -> int:
        """Return the number of pieces in a state."""
        with self._changed:
            return sum(piece.state == state for piece in self._known.values())

    def cancel(self, id: str) -> None:
        """Ask a piece of work to stop; if it is still queued, it never begins."""
        with self._changed:
            _cancel(self._find(id))

    def forget(self, id: str) -> None:
        """Cancel and forget a piece of work, so that it can be begun again."""
        with self._changed:
            piece = self._known.pop(id, None)
            if piece is not None:
                _cancel(piece)

    def close(self) -> None:
        """Cancel all work, and wait a moment for the thread to end."""
        with self._changed:
            for piece in self._known.values():
                _cancel(piece)
            self._is_closed = True
            self._changed.notify()
        self._thread.join(_SECONDS_TO_END)

    def _known_piece(self, id: str) -> _Piece[Step, Result] | None:
        piece = self._known.get(id)
        if piece is not None and piece.has_result and server_cache.find((self, id)) is None:
            del self._known[id]
            return None
        return piece

    def _find(self, id: str) -> _Piece[Step, Result]:
        piece = self._known_piece(id)
        if piece is None:
            raise UnknownWorkError(
                "This work is no longer known: the server has restarted, or other work has "
                "replaced it. Begin again."
            )
        return piece

    def _n_ahead(self, piece: _Piece[Step, Result]) -> int:
        return self.count("running") + in_turn(self._known.values()).index(piece)

    def _start(self, piece: _Piece[Step, Result]) -> None:
        piece.state, piece.started = "running", self._clock()

    def _next(self) -> _Piece[Step, Result] | None:
        """Wait for a piece whose turn it is, and start it; None once there will be no more."""
        with self._changed:
            while not self._is_closed:
                if queued := in_turn(self._known.values()):
                    self._start(queued[0])
                    queued[0].turn = next(self._numbers)
                    return queued[0]
                self._changed.wait()
        return None

    def _work_on_all(self) -> None:
        while (piece := self._next()) is not None:
            self._do(piece)
            # Otherwise a reference to it, and so to its data, would stay until the next one.
            del piece

    def _do(
        self,
        piece: _Piece[Step, Result],
        lets_through: tuple[type[BaseException], ...] = (),
    ) -> None:
        result: Result | None = None
        problem: str | None = None
        assert piece.work is not None
        try:
            # Also if it was cancelled since its turn came: the work frees what it holds.
            result = piece.work(piece.task)
        except lets_through:
            self.forget(piece.id)
            raise
        except CancelledError:
            pass  # from a process that it waited for
        except BpeError as error:
            problem = str(error)
        except BaseException as error:
            # A panic in Rust code is not an Exception, and must not end the thread: others wait.
            problem = log_unforeseen(error)
        if result is not None:
            server_cache.keep((self, piece.id), result)
        with self._changed:
            piece.work, piece.problem = None, problem
            piece.elapsed_seconds = self._clock() - piece.started
            if result is not None:
                piece.state = "finished"
            else:
                piece.state = "failed" if problem is not None else "cancelled"


def _cancel(piece: _Piece[Any, Any]) -> None:
    if piece.state == "queued":
        piece.state, piece.work = "cancelled", None
    piece.task.cancel()


def stopper(task: Task[Progress]) -> Callable[[int, int], bool]:
    """Return a function that reports progress to `task` and returns True once it is cancelled."""

    def should_stop(done: int, of: int) -> bool:
        task.report(Progress(done, of))
        return task.is_cancelled

    return should_stop


def current_visitor() -> str:
    """Return a code for the visitor of this session, which says nothing about them.

    All tabs of a browser are one visitor; without cookies, each tab is one. Outside a session, the
    code is empty.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return ""
    cookie = st.context.cookies.get(_BROWSER)
    found = cookie if isinstance(cookie, str) and cookie else context.session_id
    return hashlib.sha256(found.encode()).hexdigest()[:16]
