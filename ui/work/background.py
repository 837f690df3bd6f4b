"""Run work in the background, one piece of each kind after another: progress, cancel, result.

A piece of work is a `Task`, which also says what the work shows of itself while it runs.
"""

from __future__ import annotations

import atexit
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from itertools import count, zip_longest
from threading import Event, RLock, Thread
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bpe_core.errors import BpeError
from ui.host import event, log_unforeseen, server_cache

State = Literal["queued", "running", "finished", "cancelled", "failed", "unknown"]
"""Only a training is "unknown": the address names it, and this server does not know it."""

Result = TypeVar("Result")
"""The result of a piece of work."""
MAX_ENDED: Final = 64
"""The number of ended pieces of a kind that are remembered."""
_SECONDS_TO_END: Final = 2.0
_ENDS_PROGRAM: Final = (KeyboardInterrupt, SystemExit)
_BROWSER: Final = "_streamlit_xsrf"
"""The cookie that Streamlit gives each browser."""


class Measurable(Protocol):
    """Progress that can be shown as a share; an implementation may hold more."""

    @property
    def done(self) -> int: ...
    @property
    def of(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress as a share alone."""

    done: int
    of: int


Step = TypeVar("Step", bound=Measurable)
"""The progress that a piece of work reports."""


# Without slots, with which Python cannot make it as WorkKind[...](...).
@dataclass(frozen=True)
class WorkKind(Generic[Step, Result]):
    """A kind of work, of which one piece runs at a time."""

    name: str
    max_waiting: int = 16
    """More pieces than these are refused while they wait."""
    max_per_visitor: int | None = None
    """How many pieces a visitor can have queued or running; None for any number."""
    is_unasked: bool = False
    """Whether a page begins it by itself, so that nobody misses it once all tabs are closed."""


@dataclass(frozen=True, slots=True)
class Status(Generic[Step, Result]):
    """A snapshot of a piece of work."""

    kind: WorkKind[Step, Result]
    id: str
    state: State
    about: str = ""
    """A description, as passed to `begin`."""
    n_ahead: int = 0
    """The number of pieces of its kind ahead of it, the running one included; 0 once it runs. It
    grows if another visitor's turn comes first."""
    progress: Step | None = None
    is_stopping: bool = False
    """Whether it is cancelled but has not ended yet."""
    elapsed_seconds: float = 0.0
    """Since it began to run; once it has ended, the time it took."""
    result: Result | None = None
    problem: str | None = None
    """What went wrong, as a sentence for the visitor; None unless it failed."""

    @property
    def is_live(self) -> bool:
        """Whether it is queued or running."""
        return self.state in ("queued", "running")

    @property
    def share(self) -> float:
        """The share that is done, from 0 to 1."""
        progress = self.progress
        return min(1.0, progress.done / progress.of) if progress and progress.of else 0.0


class Task(Generic[Step]):
    """The handle with which a piece of work reports progress and checks for cancellation."""

    def __init__(self) -> None:
        self._cancelled = Event()
        self.is_wanted = True
        """False once even a part of the result is of no use."""
        self.last_report: Step | None = None
        """The latest progress."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the work should stop."""
        return self._cancelled.is_set()

    def report(self, progress: Step) -> None:
        """Record the progress of the work."""
        self.last_report = progress

    def cancel(self, *, is_wanted: bool = True) -> None:
        """Ask the work to stop; if a part of its result `is_wanted`, that is its result."""
        self.is_wanted = self.is_wanted and is_wanted
        self._cancelled.set()


Work = Callable[[Task[Step]], Result | None]
"""Returns None, or raises CancelledError, if it was cancelled; the message of a `BpeError` is shown
to the visitor."""


class UnknownWorkError(BpeError):
    """No work has this id."""


class TooMuchWorkError(BpeError):
    """The queue is full, or the visitor has no place left in it."""


@dataclass(slots=True, eq=False)
class _Piece:
    kind: WorkKind[Any, Any]
    id: str
    about: str
    visitor: str
    number: int
    """Pieces and turns are numbered together, as they come."""
    work: Work[Any, Any] | None
    """None once it has ended, because the data it works on may be large."""
    task: Task[Any]
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


def in_turn(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Return the queued pieces of a kind in the order in which they will run.

    In each round every visitor has a turn, and whoever was served last comes last; the pieces of
    one visitor stay in order.
    """
    last_turns: dict[str, int] = {}
    queued: dict[str, list[_Piece]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.number):
        last_turns[piece.visitor] = max(piece.turn, last_turns.get(piece.visitor, 0))
        if piece.state == "queued":
            queued.setdefault(piece.visitor, []).append(piece)
    visitors = sorted(queued, key=lambda name: (last_turns[name], queued[name][0].number))
    rounds = zip_longest(*(queued[name] for name in visitors))
    return [piece for of_round in rounds for piece in of_round if piece is not None]


class Background:
    """Run pieces of work, each in the queue of its kind, and remember the latest results.

    Visitors take turns. Results are in `server_cache`; work whose result it dropped is forgotten.
    A kind has a thread while there is work of it.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = RLock()
        self._numbers = count(1)
        self._known: OrderedDict[tuple[WorkKind[Any, Any], str], _Piece] = OrderedDict()
        self._threads: dict[WorkKind[Any, Any], Thread] = {}

    def begin(
        self,
        kind: WorkKind[Step, Result],
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
        with self._lock:
            if self._known_piece(kind, id) is not None:
                return self.status(kind, id)
            if not is_short:
                self._check_places(kind, visitor)
            ended = [piece.id for piece in self._of(kind) if not piece.is_live]
            for old in ended[: max(0, len(ended) - MAX_ENDED + 1)]:
                del self._known[kind, old]
            piece = _Piece(kind, id, about, visitor, next(self._numbers), work, Task())
            self._known[kind, id] = piece
            if is_short:
                self._start(piece)
            elif kind not in self._threads:
                # A daemon, unlike a pool's threads, so that the interpreter can exit meanwhile.
                thread = Thread(target=self._work_on, args=(kind,), name=kind.name, daemon=True)
                self._threads[kind] = thread
                thread.start()
        if is_short:
            self._do(piece, lets_through=_ENDS_PROGRAM)
        return self.status(kind, id)

    def status(self, kind: WorkKind[Step, Result], id: str) -> Status[Step, Result]:
        """Return a snapshot of a piece of work; raise `UnknownWorkError` for an unknown id."""
        with self._lock:
            piece = self._find(kind, id)
            result: Result | None = server_cache.find(_key(piece)) if piece.has_result else None
            self._known.move_to_end((kind, id))
            is_running = piece.state == "running"
            seconds = self._clock() - piece.started if is_running else piece.elapsed_seconds
            return Status(
                kind=kind,
                id=id,
                about=piece.about,
                state=piece.state,
                n_ahead=self._n_ahead(piece) if piece.state == "queued" else 0,
                progress=piece.task.last_report,
                is_stopping=is_running and piece.task.is_cancelled,
                elapsed_seconds=seconds,
                result=result,
                problem=piece.problem,
            )

    def find(self, kind: WorkKind[Step, Result], id: str) -> Status[Step, Result] | None:
        """Return a snapshot of a piece of work, or None for an unknown id."""
        try:
            return self.status(kind, id)
        except UnknownWorkError:
            return None

    def count(self, kind: WorkKind[Any, Any], state: State) -> int:
        """Return the number of pieces in a state."""
        with self._lock:
            return sum(piece.state == state for piece in self._of(kind))

    def cancel(self, kind: WorkKind[Any, Any], id: str) -> None:
        """Ask a piece of work to stop; if it is still queued, it never begins."""
        with self._lock:
            _cancel(self._find(kind, id))

    def forget(self, kind: WorkKind[Any, Any], id: str) -> None:
        """Cancel and forget a piece of work, so that it can be begun again."""
        with self._lock:
            piece = self._known.pop((kind, id), None)
            if piece is not None:
                _cancel(piece)

    def forget_unasked(self) -> None:
        """Cancel and forget the work that pages began by themselves."""
        with self._lock:
            for kind, id in [known for known in self._known if known[0].is_unasked]:
                self.forget(kind, id)

    def clear(self) -> None:
        """Cancel and forget all work, whose results nobody wants, and wait a moment for its end."""
        with self._lock:
            for piece in self._known.values():
                _cancel(piece, is_wanted=False)
            self._known.clear()
            threads = list(self._threads.values())
        deadline = time.monotonic() + _SECONDS_TO_END
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _of(self, kind: WorkKind[Any, Any]) -> list[_Piece]:
        return [piece for piece in self._known.values() if piece.kind == kind]

    def _check_places(self, kind: WorkKind[Any, Any], visitor: str) -> None:
        """Raise `TooMuchWorkError` if a visitor's work would be refused now."""
        waiting = self.count(kind, "queued")
        if waiting >= kind.max_waiting:
            event("queue_full", "warning", waiting=waiting)
            raise TooMuchWorkError(f"{waiting} others are already waiting. Try again soon.")
        if not visitor or kind.max_per_visitor is None:
            return
        own = sum(piece.is_live and piece.visitor == visitor for piece in self._of(kind))
        if own >= kind.max_per_visitor:
            event("visitor_queue_full", waiting=waiting)
            raise TooMuchWorkError(
                f"You already have {own} running or waiting, the most that one visitor may "
                "have. Wait until one has ended, or cancel one."
            )

    def _known_piece(self, kind: WorkKind[Any, Any], id: str) -> _Piece | None:
        piece = self._known.get((kind, id))
        if piece is not None and piece.has_result and server_cache.find(_key(piece)) is None:
            del self._known[kind, id]
            return None
        return piece

    def _find(self, kind: WorkKind[Any, Any], id: str) -> _Piece:
        piece = self._known_piece(kind, id)
        if piece is None:
            raise UnknownWorkError(
                "This work is no longer known: the server has restarted, or other work has "
                "replaced it. Begin again."
            )
        return piece

    def _n_ahead(self, piece: _Piece) -> int:
        own = self._of(piece.kind)
        return self.count(piece.kind, "running") + in_turn(own).index(piece)

    def _start(self, piece: _Piece) -> None:
        piece.state, piece.started = "running", self._clock()

    def _next(self, kind: WorkKind[Any, Any]) -> _Piece | None:
        """Start the piece whose turn it is; if there is none, end the kind's thread."""
        with self._lock:
            queued = in_turn(self._of(kind))
            if not queued:
                del self._threads[kind]
                return None
            self._start(queued[0])
            queued[0].turn = next(self._numbers)
            return queued[0]

    def _work_on(self, kind: WorkKind[Any, Any]) -> None:
        while (piece := self._next(kind)) is not None:
            self._do(piece)

    def _do(self, piece: _Piece, lets_through: tuple[type[BaseException], ...] = ()) -> None:
        result: object = None
        problem: str | None = None
        assert piece.work is not None
        try:
            # Also if it was cancelled since its turn came: the work frees what it holds.
            result = piece.work(piece.task)
        except lets_through:
            self.forget(piece.kind, piece.id)
            raise
        except CancelledError:
            pass  # from a process that it waited for
        except BpeError as error:
            problem = str(error)
        except BaseException as error:
            # A panic in Rust code is not an Exception, and must not end the thread: others wait.
            problem = log_unforeseen(error)
        with self._lock:
            # Nobody would free the result of work that was forgotten meanwhile.
            if result is not None and self._known.get((piece.kind, piece.id)) is piece:
                server_cache.keep(_key(piece), result)
            piece.work, piece.problem = None, problem
            piece.elapsed_seconds = self._clock() - piece.started
            if result is not None:
                piece.state = "finished"
            else:
                piece.state = "failed" if problem is not None else "cancelled"


queue: Final = Background()
"""The work of this server."""
atexit.register(queue.clear)


def _key(piece: _Piece) -> tuple[str, str]:
    """Return the key of its result in `server_cache`."""
    return piece.kind.name, piece.id


def _cancel(piece: _Piece, *, is_wanted: bool = True) -> None:
    if piece.state == "queued":
        piece.state, piece.work = "cancelled", None
    piece.task.cancel(is_wanted=is_wanted)


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
