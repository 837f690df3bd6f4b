"""Run work in a background thread, one piece after another: queue, progress, cancel, result."""

from __future__ import annotations

import atexit
import heapq
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from threading import Condition, Lock, Thread
from typing import Final, Generic, TypeVar

from bpe_core.errors import BpeError
from ui.host.logs import event, log_unforeseen
from ui.host.sized_cache import server_cache
from ui.work.task import Progress, Result, State, Status, Step, Task, Work

Item = TypeVar("Item")
_MAX_CACHED: Final = 1_000
_SECONDS_TO_END: Final = 2.0
_ENDS_PROGRAM: Final = (KeyboardInterrupt, SystemExit)


class Turns(Generic[Item]):
    """A queue in which visitors take turns; the pieces of one visitor stay in order.

    Not safe for threads.

    >>> turns = Turns[str]()
    >>> for visitor, item in (("a", "a1"), ("a", "a2"), ("b", "b1")):
    ...     turns.add(visitor, item)
    >>> list(turns), turns.take(), list(turns)
    (['a1', 'b1', 'a2'], 'a1', ['b1', 'a2'])
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[tuple[int, Item]]] = {}
        self._last_turn: OrderedDict[str, int] = OrderedDict()
        self._n_added = 0
        self._n_taken = 0

    def add(self, visitor: str, item: Item) -> None:
        """Add an item behind the others of its visitor."""
        self._n_added += 1
        self._waiting.setdefault(visitor, deque()).append((self._n_added, item))

    def take(self) -> Item | None:
        """Remove and return the next item; None if nothing waits."""
        order = self._keep_firsts()
        if not order:
            return None
        _, _, visitor = order[0]
        _, item = self._waiting[visitor].popleft()
        if not self._waiting[visitor]:
            del self._waiting[visitor]
        self._n_taken += 1
        self._last_turn[visitor] = self._n_taken
        self._last_turn.move_to_end(visitor)
        if len(self._last_turn) > _MAX_CACHED:
            self._last_turn.popitem(last=False)
        return item

    def remove(self, visitor: str, item: Item) -> None:
        """Remove an item, if it waits."""
        left = [pair for pair in self._waiting.get(visitor, ()) if pair[1] is not item]
        if left:
            self._waiting[visitor] = deque(left)
        else:
            self._waiting.pop(visitor, None)

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in the order in which they would be taken, if none were added."""
        order = self._keep_firsts()
        rests = {visitor: deque(items) for visitor, items in self._waiting.items()}
        turn = self._n_taken
        while order:
            _, _, visitor = heapq.heappop(order)
            rest = rests[visitor]
            yield rest.popleft()[1]
            turn += 1
            if rest:
                heapq.heappush(order, (turn, rest[0][0], visitor))

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _keep_firsts(self) -> list[tuple[int, int, str]]:
        """Return a heap of each visitor's last turn, the number of their first item, and name."""
        order = [
            (self._last_turn.get(visitor, 0), items[0][0], visitor)
            for visitor, items in self._waiting.items()
        ]
        heapq.heapify(order)
        return order


class UnknownWorkError(BpeError):
    """No work has this id."""


class TooMuchWorkError(BpeError):
    """The queue is full, or the visitor has no place left in it."""


@dataclass(slots=True)
class _Piece(Generic[Step, Result]):
    id: str
    about: str
    visitor: str
    work: Work[Step, Result] | None
    """None once it has ended, because the data it works on may be large."""
    task: Task[Step]
    state: State = "queued"
    started: float = 0.0
    elapsed_seconds: float = 0.0
    problem: str | None = None

    @property
    def is_live(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def has_result(self) -> bool:
        return self.state == "finished"


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
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._is_closed = False
        self._known: OrderedDict[str, _Piece[Step, Result]] = OrderedDict()
        self._waiting = Turns[_Piece[Step, Result]]()
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
        visitor: str = "",
        is_short: bool = False,
    ) -> Status[Step, Result]:
        """Queue a piece of work, unless one with this id exists already, and return its status.

        Short work is done before this returns. Raises `TooMuchWorkError` if the queue is full, or
        the visitor has too many pieces in it; an empty `visitor` may have any number. If the
        program is asked to exit during short work, that exception passes through and the work is
        forgotten.
        """
        piece = self._queue(id, work, about, visitor, is_short=is_short)
        if piece is not None and is_short:
            self._do(piece, lets_through=_ENDS_PROGRAM)
        return self.status(id)

    def _queue(
        self, id: str, work: Work[Step, Result], about: str, visitor: str, *, is_short: bool
    ) -> _Piece[Step, Result] | None:
        """Note a piece of work, and queue it unless it is short; return None if it is known."""
        with self._lock:
            if self._known_piece(id) is not None:
                return None
            if not is_short:
                self._check_places(visitor)
            ended = [known for known, piece in self._known.items() if not piece.is_live]
            for old in ended[: max(0, len(self._known) - self._max_cached + 1)]:
                del self._known[old]
            piece = self._known[id] = _Piece(id, about, visitor, work, Task(self._clock))
            if not is_short:
                self._waiting.add(visitor, piece)
                self._changed.notify()
        return piece

    def check_places(self, visitor: str) -> None:
        """Raise `TooMuchWorkError` if a visitor's work would be refused now."""
        with self._lock:
            self._check_places(visitor)

    def status(self, id: str) -> Status[Step, Result]:
        """Return a snapshot of a piece of work; raise `UnknownWorkError` for an unknown id."""
        with self._lock:
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
        with self._lock:
            return sum(piece.state == state for piece in self._known.values())

    def cancel(self, id: str) -> None:
        """Ask a piece of work to stop; if it is still queued, it never begins."""
        with self._lock:
            piece = self._find(id)
            if piece.state == "queued":
                piece.state, piece.work = "cancelled", None
                self._waiting.remove(piece.visitor, piece)
        piece.task.cancel()

    def forget(self, id: str) -> None:
        """Cancel and forget a piece of work, so that it can be begun again."""
        with self._lock:
            piece = self._known.pop(id, None)
            if piece is not None:
                self._waiting.remove(piece.visitor, piece)
        if piece is not None:
            piece.task.cancel()

    def close(self) -> None:
        """Cancel all work, and wait a moment for the thread to end."""
        with self._lock:
            pieces = list(self._known.values())
            for piece in self._waiting:
                piece.state, piece.work = "cancelled", None
            self._is_closed = True
            self._changed.notify()
        for piece in pieces:
            piece.task.cancel()
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

    def _check_places(self, visitor: str) -> None:
        waiting = len(self._waiting)
        if waiting >= self._max_waiting:
            event("queue_full", "warning", waiting=waiting)
            raise TooMuchWorkError(f"{waiting} others are already waiting. Try again soon.")
        if not visitor or self._max_per_visitor is None:
            return
        own = sum(piece.is_live and piece.visitor == visitor for piece in self._known.values())
        if own >= self._max_per_visitor:
            event("visitor_queue_full", waiting=waiting)
            raise TooMuchWorkError(
                f"You already have {own} running or waiting, the most that one visitor may have. "
                "Wait until one has ended, or cancel one."
            )

    def _n_ahead(self, piece: _Piece[Step, Result]) -> int:
        running = sum(p.state == "running" for p in self._known.values())
        # Between its turn and its first step it is in neither.
        places = (n for n, other in enumerate(self._waiting) if other is piece)
        return running + next(places, 0)

    def _next(self) -> _Piece[Step, Result] | None:
        """Wait for a piece whose turn it is, and return it; None once there will be no more."""
        with self._lock:
            while not len(self._waiting) and not self._is_closed:
                self._changed.wait()
            return None if self._is_closed else self._waiting.take()

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
        with self._lock:
            work = piece.work
            if work is None or piece.task.is_cancelled:
                piece.state, piece.work = "cancelled", None
                return
            piece.state, piece.started = "running", self._clock()
        result: Result | None = None
        problem: str | None = None
        try:
            result = work(piece.task)
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
        with self._lock:
            piece.work, piece.problem = None, problem
            piece.elapsed_seconds = self._clock() - piece.started
            if result is not None:
                piece.state = "finished"
            else:
                piece.state = "failed" if problem is not None else "cancelled"


def stopper(task: Task[Progress]) -> Callable[[int, int], bool]:
    """Return a function that reports progress to `task` and returns True once it is cancelled."""

    def should_stop(done: int, of: int) -> bool:
        task.report(Progress(done, of))
        return task.is_cancelled

    return should_stop
