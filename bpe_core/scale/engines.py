"""Run functions on many items: in this process, in processes on this machine, or on a cluster."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from bpe_core.errors import BpeError, ConfigError
from bpe_core.extras import needs_extra

if TYPE_CHECKING:
    from distributed import Client

Item = TypeVar("Item")
Result = TypeVar("Result")

MIN_MEMORY: Final = 1 << 30
_MEMORY_OF_A_WORKER: Final = 640 << 20
_SECONDS_BETWEEN_CHECKS: Final = 0.2
_SECONDS_TO_CONNECT: Final = 10
SECONDS_WITHOUT_WORKERS: Final = 20.0


class Engine(Protocol):
    """Whatever runs a function on many items; results come in any order, with their places."""

    @property
    def should_stop(self) -> Callable[[], bool] | None:
        """What a function asks now and then, and if it is True, raises CancelledError."""
        ...

    def threads_for(self, n_items: int) -> int | None:
        """Return how many threads a function may use; None for one on each processor."""
        ...

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yield each item's place and result."""
        ...


class ThisProcess:
    """Run everything here: one item after another, or several at a time, each in a thread."""

    def __init__(self, n_at_a_time: int = 1) -> None:
        self._n = n_at_a_time
        self._stopped = threading.Event()

    @property
    def should_stop(self) -> Callable[[], bool]:
        """Return True once the results are no longer wanted."""
        return self._stopped.is_set

    def threads_for(self, n_items: int) -> int | None:
        """Return 1 if several items are run at a time, otherwise None.

        >>> ThisProcess(2).threads_for(10), ThisProcess(2).threads_for(1)
        (1, None)
        """
        return 1 if self._n > 1 and n_items > 1 else None

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yield each item's place and result: in order, or with several threads as they are ready.

        >>> list(ThisProcess().run(abs, [-1, 2]))
        [(0, 1), (1, 2)]
        """
        if self._n == 1 or len(items) < 2:
            for place, item in enumerate(items):
                yield place, function(item)
            return
        pool = ThreadPoolExecutor(self._n)
        try:
            places = {pool.submit(function, item): place for place, item in enumerate(items)}
            for done in as_completed([*places]):
                yield places.pop(done), done.result()
        finally:
            self._stopped.set()
            pool.shutdown(cancel_futures=True)
            self._stopped.clear()


class DaskWorkers:
    """Run functions on the workers of a Dask cluster, which repeat what a lost worker had begun.

    A few items for each worker are sent at a time, so this process's memory does not grow with
    their number.
    """

    should_stop = None

    def __init__(self, client: Client, patience_seconds: float = SECONDS_WITHOUT_WORKERS) -> None:
        self._client: Any = client  # Dask is only partly typed
        self._patience = patience_seconds

    def threads_for(self, n_items: int) -> int:
        """Return 1: each processor has a worker of its own."""
        return 1

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result]]:
        """Yield each item's place and result as they are ready.

        Raises ConfigError if there is no worker for `patience_seconds`, or the cluster fails.
        """
        waiting = iter(enumerate(items))
        running: dict[Any, int] = {}
        finished: SimpleQueue[Any] = SimpleQueue()
        last_seen = time.monotonic()
        with as_config_errors(self._client):
            try:
                while True:
                    n_threads = sum(self._client.nthreads().values())
                    for place, item in waiting:
                        # Not pure: a file of the same name may have changed by the next call.
                        future = self._client.submit(function, item, pure=False)
                        running[future] = place
                        future.add_done_callback(finished.put)
                        if len(running) >= max(8, 3 * n_threads):
                            break
                    if not running:
                        return
                    try:
                        done = finished.get(timeout=_SECONDS_BETWEEN_CHECKS)
                    except Empty:
                        if n_threads:
                            last_seen = time.monotonic()
                        elif time.monotonic() - last_seen > self._patience:
                            raise _no_workers(self._client, self._patience) from None
                        continue
                    yield running.pop(done), done.result()
            finally:
                if self._client.status == "running":  # otherwise there is no scheduler to tell
                    self._client.cancel(list(running))


def _no_workers(client: Any, seconds: float) -> ConfigError:
    return ConfigError(
        f"The Dask cluster at {client.scheduler.address} has had no worker for {seconds:g} s. "
        f"Start some: `dask worker {client.scheduler.address}`."
    )


@contextmanager
def cluster(address: str) -> Generator[Client]:
    """Connect to the scheduler of a Dask cluster, such as tcp://127.0.0.1:8786.

    Raises MissingExtraError if Dask is not installed, and ConfigError if no scheduler answers.
    """
    with needs_extra("cluster", "Work on a cluster"):
        from distributed import Client
    try:
        client: Any = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except Exception as error:  # a bad address raises anything from ValueError to errors of TLS
        raise ConfigError(
            f"No Dask scheduler answers at {address!r} ({type(error).__name__}). Start one with "
            "`dask scheduler` and use the address it prints."
        ) from None
    try:
        yield client
    finally:
        client.close()


@contextmanager
def local_processes(memory: int, n_processes: int | None = None) -> Generator[Client]:
    """Start processes on this machine that together take no more than `memory` bytes.

    Each has an equal share, and so has this process. By default there is one for each processor, as
    far as there is room. Raises ConfigError for too little memory, and MissingExtraError.
    """
    with needs_extra("cluster", "Work within a memory limit"):
        from distributed import Client, LocalCluster
    if memory < MIN_MEMORY:
        raise ConfigError(
            f"Expected a memory limit of at least 1 GB, got {memory / (1 << 30):.2g} GB."
        )
    most = max(1, memory // _MEMORY_OF_A_WORKER - 1)
    n = min(n_processes or os.cpu_count() or 1, most)
    start: Any = LocalCluster
    started = start(
        n_workers=n,
        threads_per_worker=1,
        processes=True,
        memory_limit=memory // (n + 1),
        dashboard_address="127.0.0.1:0",  # any free port: the usual one may be taken
        silence_logs=40,
    )
    try:
        client: Any = Client(started, set_as_default=False)
        try:
            yield client
        finally:
            client.close()
    finally:
        started.close()


@contextmanager
def as_config_errors(client: Any) -> Generator[None]:
    """Turn the cluster's errors into ConfigError; pass on this package's own."""
    # Asked for now, because a client that gives up on its scheduler forgets where it was.
    address = client.scheduler.address if client.scheduler is not None else "its address"
    try:
        yield
    except BpeError:
        raise
    except Exception as error:  # of Dask, or of a worker without this package
        reason = " ".join(str(error).split())[:300] or "no details"
        raise ConfigError(
            f"The Dask cluster at {address} failed ({type(error).__name__}: {reason}). Check that "
            "its scheduler and workers are running with enough memory, and that they have the same "
            "versions of Python, Dask and this package as this machine. Then run the command "
            "again: it resumes where it stopped."
        ) from error
