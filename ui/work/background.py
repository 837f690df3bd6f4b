"""Work in the background, one piece after another: queue, progress, cancel, what came of it."""

from __future__ import annotations

import atexit
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Final, Generic, Literal, Protocol, TypeVar

from bpe_core.errors import BpeError
from ui.failures.unforeseen import told_of_unforeseen

State = Literal["queued", "running", "finished", "cancelled", "failed"]
_SECONDS_TO_END: Final = 2.0
_ENDS_PROGRAM: Final = (KeyboardInterrupt, SystemExit)


class UnknownWorkError(BpeError):
    """No work is known under this id."""


class TooMuchWorkError(BpeError):
    """More pieces of work wait than the server will keep."""


class Measurable(Protocol):
    """How far a piece of work is; what more there is to say of it is its own."""

    @property
    def done(self) -> int: ...
    @property
    def of(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work is, and nothing more."""

    done: int
    of: int


Step = TypeVar("Step", bound=Measurable)
"""What work tells of its progress."""
Result = TypeVar("Result")
"""What it comes to."""


@dataclass(frozen=True, slots=True)
class Status(Generic[Step, Result]):
    """A piece of work as it stood when it was asked for."""

    id: str
    about: str
    """What it is, in the words of whoever asked for it."""
    state: State
    n_ahead: int
    """How many go before it; 0 once it runs."""
    progress: Step | None
    is_stopping: bool
    """Whether it was asked to stop and has not ended yet."""
    elapsed_seconds: float
    """Since it began to run; how long it took in all, once it has ended."""
    seconds_since_told: float
    """How old `progress` is; 0 where there is none."""
    result: Result | None
    problem: str | None
    """What went wrong, for the person who asked; None save where it failed."""

    @property
    def is_live(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("queued", "running")

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        progress = self.progress
        return min(1.0, progress.done / progress.of) if progress and progress.of else 0.0


class Task(Generic[Step]):
    """What a piece of work is given: whom to tell how far it is, and whether to stop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._cancelled = Event()
        self._end: Callable[[], None] | None = None
        self.told: tuple[Step, float] | None = None
        """How far it was when that was last told, and when that was by the clock."""

    @property
    def is_cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._cancelled.is_set()

    @property
    def progress(self) -> Step | None:
        """How far it was when that was last told."""
        return None if self.told is None else self.told[0]

    def tell(self, progress: Step) -> None:
        """Says how far the work is."""
        self.told = progress, self._clock()

    def on_cancel(self, end: Callable[[], None]) -> None:
        """Has `end` called when the work is asked to stop; at once, where it was already."""
        with self._lock:
            self._end = end
            if not self._cancelled.is_set():
                return
        end()

    def cancel(self) -> None:
        """Asks the work to stop."""
        with self._lock:
            self._cancelled.set()
            end = self._end
        if end is not None:
            end()


Work = Callable[[Task[Step]], Result | None]
"""Gives None where it was stopped; a `BpeError` is told to whoever asked."""


@dataclass(slots=True)
class _Piece(Generic[Step, Result]):
    id: str
    about: str
    number: int
    work: Work[Step, Result] | None
    """None once it has ended: what it works on may be large."""
    task: Task[Step]
    state: State = "queued"
    started: float = 0.0
    elapsed_seconds: float = 0.0
    result: Result | None = None
    problem: str | None = None

    @property
    def is_live(self) -> bool:
        return self.state in ("queued", "running")


class Background(Generic[Step, Result]):
    """Does pieces of work one after another in a thread, and remembers what came of the latest."""

    def __init__(
        self,
        name: str,
        *,
        most_waiting: int,
        most_remembered: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_waiting = most_waiting
        self._most_remembered = most_remembered
        self._clock = clock
        self._lock = Lock()
        self._known: OrderedDict[str, _Piece[Step, Result]] = OrderedDict()
        self._submitted = 0
        self._waiting: SimpleQueue[_Piece[Step, Result] | None] = SimpleQueue()
        # A daemon, unlike a pool's threads: the interpreter doesn't wait for it when it ends.
        self._thread = Thread(target=self._work_on_all, name=name, daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def begin(
        self, id: str, work: Work[Step, Result], *, about: str = "", is_short: bool = False
    ) -> None:
        """Puts a piece of work in the queue, unless one of its id is known already.

        What is short is done before this returns. Raises `TooMuchWorkError`, and what asks the
        program to end while short work is done: nobody knows of that work then.
        """
        with self._lock:
            if id in self._known:
                return
            waiting = sum(piece.state == "queued" for piece in self._known.values())
            if not is_short and waiting >= self._most_waiting:
                raise TooMuchWorkError(f"{waiting} others are waiting already. Try again soon.")
            ended = [known for known, piece in self._known.items() if not piece.is_live]
            for old in ended[: max(0, len(self._known) - self._most_remembered + 1)]:
                del self._known[old]
            self._submitted += 1
            piece = self._known[id] = _Piece(id, about, self._submitted, work, Task(self._clock))
        if is_short:
            self._do(piece, lets_through=_ENDS_PROGRAM)
        else:
            self._waiting.put(piece)

    def status(self, id: str) -> Status[Step, Result]:
        """How a piece of work stands; `UnknownWorkError` for an id that isn't known."""
        with self._lock:
            piece = self._find(id)
            self._known.move_to_end(id)
            progress, told_at = piece.task.told or (None, self._clock())
            ahead = sum(p.is_live for p in self._known.values() if p.number < piece.number)
            return Status(
                id=id,
                about=piece.about,
                state=piece.state,
                n_ahead=ahead if piece.state == "queued" else 0,
                progress=progress,
                is_stopping=piece.state == "running" and piece.task.is_cancelled,
                elapsed_seconds=self._clock() - piece.started
                if piece.state == "running"
                else piece.elapsed_seconds,
                seconds_since_told=self._clock() - told_at,
                result=piece.result,
                problem=piece.problem,
            )

    def cancel(self, id: str) -> None:
        """Asks a piece of work to stop; one that waits never begins."""
        with self._lock:
            piece = self._find(id)
            if piece.state == "queued":
                piece.state, piece.work = "cancelled", None
        piece.task.cancel()

    def forget(self, id: str) -> None:
        """Ends a piece of work; asked for again, it begins anew."""
        with self._lock:
            piece = self._known.pop(id, None)
        if piece is not None:
            piece.task.cancel()

    def close(self) -> None:
        """Ends all work, and waits a moment for the thread to end."""
        with self._lock:
            pieces = list(self._known.values())
        for piece in pieces:
            piece.task.cancel()
        self._waiting.put(None)
        self._thread.join(_SECONDS_TO_END)

    def _find(self, id: str) -> _Piece[Step, Result]:
        piece = self._known.get(id)
        if piece is None:
            raise UnknownWorkError(
                "What was under way is not known any more: the server has started anew since, or "
                "much else came after it. Begin again."
            )
        return piece

    def _work_on_all(self) -> None:
        while (piece := self._waiting.get()) is not None:
            self._do(piece)

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
        except BpeError as error:
            problem = str(error)
        except BaseException as error:
            # A panic of code in Rust is no Exception; what waits behind this piece goes on.
            problem = told_of_unforeseen(error)
        with self._lock:
            piece.work, piece.result, piece.problem = None, result, problem
            piece.elapsed_seconds = self._clock() - piece.started
            if result is not None:
                piece.state = "finished"
            else:
                piece.state = "failed" if problem is not None else "cancelled"


def stop_of(task: Task[Progress]) -> Callable[[int, int], bool]:
    """A function that is told how far the work is, and says whether to stop."""

    def should_stop(done: int, of: int) -> bool:
        task.tell(Progress(done, of))
        return task.is_cancelled

    return should_stop
