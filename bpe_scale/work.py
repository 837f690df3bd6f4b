"""Divide a job on more text than one machine holds, and have each part worked on.

An engine runs functions on many parts: in this process, in processes on this machine, or on a
cluster. Finished parts are kept in a folder, so a run that was killed can resume.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from os import PathLike, fspath
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Generic, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from bpe_core.checks import check_choice, several
from bpe_core.corpus import DecodingErrors, DescribedFile, Location, Note, SourceFile, reasons
from bpe_core.errors import BpeError, ConfigError, CorpusError, UnsupportedFileError
from bpe_core.extras import needs_extra
from bpe_scale.stretches import Stretch, divide_files, key_for, stretch_bytes_for

if TYPE_CHECKING:
    from distributed import Client


Item = TypeVar("Item")
Result = TypeVar("Result")

MIN_MEMORY: Final = 1 << 30
_MEMORY_OF_A_WORKER: Final = 640 << 20
_SECONDS_BETWEEN_CHECKS: Final = 0.2
_SECONDS_TO_CONNECT: Final = 10
SECONDS_WITHOUT_WORKERS: Final = 20.0

_BATCH: Final = 64
"""The files that a worker looks at in one call: a call takes longer than a small file."""
_PIECE: Final = 1 << 20
_OWN_NAME: Final = re.compile(
    r"[0-9a-f]{32}(-[0-9]+)?(\.[0-9a-f]{32})?\.[a-z]+|\.unfinished-[0-9a-f]{32}(-.*)?"
)
Record = dict[str, Any]
"""What is known of a finished part, as JSON values."""
Figures = TypeVar("Figures", bound=NamedTuple)


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


class WorkFolder(NamedTuple):
    """A folder, by path or URL, that all workers can read and write.

    A part consists of files and a record, which is written last: a part without a record was not
    finished. Names are unique, so two workers with the same part don't clash. Nothing waits for the
    disk, which took a third of the time of counting: after a power cut, a part whose files are not
    as long as its record says counts as unfinished.
    """

    url: str

    @classmethod
    def at(cls, path: str) -> WorkFolder:
        """Return the folder at a path or URL; a path is made absolute for workers in other folders.

        >>> WorkFolder.at("memory://work")
        WorkFolder(url='memory://work')
        """
        return cls(path if Location(path).is_url else os.path.abspath(path))

    def done(self) -> dict[str, str]:
        """Return the names of the records of finished parts, by key.

        >>> WorkFolder("/no/such/folder").done()
        {}
        """
        names = Location(self.url).names()
        return {name.split(".")[0]: name for name in names if name.endswith(".json")}

    def new_name(self, key: str, suffix: str) -> str:
        """Return a name for a file of a part that no other worker uses."""
        return f"{key}.{uuid4().hex}.{suffix}"

    @contextmanager
    def writing(self, name: str) -> Generator[BinaryIO]:
        """Open a file of a part to write."""
        with Location(self.path(name)).writing(sync_to_disk=False) as file:
            yield file

    def finish(self, key: str, record: Record, files: Iterable[str] = ()) -> Record:
        """Write the record of a part, whose files are complete; return it."""
        finished = {**record, "sizes": {name: Location(self.path(name)).size() for name in files}}
        with self.writing(f"{key}.json") as file:
            file.write(json.dumps(finished).encode())
        return finished

    def is_whole(self, record: Record) -> bool:
        """Return True if the files of a part are as long as its record says."""
        sizes: dict[str, int] = record["sizes"]
        return all(Location(self.path(name)).size() == size for name, size in sizes.items())

    def record(self, name: str) -> Record:
        """Read the record of a finished part; raises CorpusError if it is damaged."""
        with Location(self.path(name)).reading() as file:
            data = file.read()
        try:
            return json.loads(data)
        except ValueError:
            raise CorpusError(
                f"{self.path(name)} is damaged. Delete it, and run the command again."
            ) from None

    def path(self, name: str) -> str:
        """Return the path or URL of a file in the folder."""
        return f"{self.url.rstrip('/')}/{name}"

    def clear(self) -> None:
        """Delete all parts, including those of killed workers, and then the folder if it is empty.

        Files with other names are left, because the folder may have been there before.
        """
        Location(self.url).delete(
            [name for name in Location(self.url).names() if _OWN_NAME.fullmatch(name)]
        )


class DividedSources(NamedTuple):
    """The text of some sources in stretches, and what was found out about their files."""

    stretches: list[Stretch]
    notes: list[Note]
    """On files that are skipped."""
    files: list[DescribedFile]
    """The others."""

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The column of text that is taken from each table."""
        return tuple((each.source.name, each.column) for each in self.files if each.column)


class Keyed(Protocol):
    """A part of a job: its key is equal only for parts with the same result."""

    @property
    def key(self) -> str:
        """The name under which its record is kept."""
        ...


Part = TypeVar("Part", bound=Keyed)


class Progress(Generic[Figures]):
    """Figures that grow, and that are reported each time.

    >>> class Counted(NamedTuple):
    ...     files: int
    ...     of: int
    >>> Progress(Counted(0, 9), print).add(files=2)
    Counted(files=2, of=9)
    """

    def __init__(self, figures: Figures, report: Callable[[Figures], None] | None) -> None:
        self._now = figures
        self._report = report

    def add(self, **more: int) -> None:
        """Add to some of the figures, and report all."""
        now = self._now._asdict()
        self._now = self._now._replace(**{name: now[name] + n for name, n in more.items()})
        if self._report is not None:
            self._report(self._now)


def divide_sources(
    sources: Iterable[str | PathLike[str]],
    engine: Engine,
    *,
    pretokenizer: str,
    text_column: str | None = None,
    errors: DecodingErrors = "strict",
    stretch_bytes: int | None = None,
    skip_damaged: bool = False,
    written_to: Iterable[str] = (),
    lists_columns: bool = False,
    saved_in: WorkFolder | None = None,
) -> DividedSources:
    """Find the files of sources, have the workers look at them, and divide their text.

    With `skip_damaged`, a file that cannot be read is skipped even if it was named. Of a folder or
    pattern, files in the folders `written_to` are left out. With `lists_columns`, the facts of
    files include the columns of their rows. A pipe can be read only once and has no size, so it is
    first saved in the folder `saved_in`. Raises ConfigError, and CorpusError or a subclass for what
    cannot be read.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from bpe_scale import ThisProcess
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("hug hugs")
    ...     divided = divide_sources([folder], ThisProcess(), pretokenizer="gpt2")
    >>> [stretch.n_bytes for stretch in divided.stretches]
    [8]
    """
    remedy = "give a list of paths or URLs"
    names: list[str] = [fspath(each) for each in several(sources, "sources", remedy)]
    check_choice("errors", errors, DecodingErrors, ConfigError)
    found = [*_leave_out(SourceFile.find(names), [Location(folder).full for folder in written_to])]
    if saved_in is not None:
        found = [_saved(source, saved_in) for source in found]
    files = [source for source in found if source.size]
    empty = [Note("empty", source.name, f"{source.name} is empty and was skipped.")
             for source in found if not source.size]  # fmt: skip
    if skip_damaged:
        files = [source._replace(is_named=False) for source in files]
    batches = [files[begin : begin + _BATCH] for begin in range(0, len(files), _BATCH)]
    look = partial(
        _describe_all, text_column=text_column, errors=errors, lists_columns=lists_columns
    )
    looked_at = dict(engine.run(look, batches))
    in_order = [each for place in range(len(batches)) for each in looked_at[place]]
    described = [each for each in in_order if isinstance(each, DescribedFile)]
    notes = [each for each in in_order if isinstance(each, Note)]
    if not described and notes:
        why = reasons([(note.file, CorpusError(note.text)) for note in notes])
        raise UnsupportedFileError(f"None of the files could be read. {why}")
    size = stretch_bytes or stretch_bytes_for(sum(source.size for source in files))
    stretches = divide_files(described, pretokenizer, size, errors, skip_damaged=skip_damaged)
    return DividedSources([*stretches], [*notes, *empty], described)


def _saved(source: SourceFile, folder: WorkFolder) -> SourceFile:
    """Return a source that can be read again, and whose size is known."""
    if not source.is_named or source.location.is_url:
        return source
    if source.size and os.path.isfile(source.url):
        return source
    name = f"{key_for('saved', source.url)}.saved"
    digest = hashlib.sha256()
    size = 0
    with source.location.reading() as file:
        if not (data := file.read(_PIECE)):
            return source._replace(size=0)
        with folder.writing(name) as copy:
            while data:
                copy.write(data)
                digest.update(data)
                size += len(data)
                data = file.read(_PIECE)
    return source._replace(url=folder.path(name), size=size, version=digest.hexdigest())


def _leave_out(sources: Iterable[SourceFile], folders: Sequence[str]) -> Iterator[SourceFile]:
    """Yield the sources that are not in folders; raise ConfigError if one of these was named."""
    for source in sources:
        # The URLs of unnamed files are full already, and there may be very many.
        is_full = source.location.is_url and not source.is_named
        url = source.url if is_full else source.location.full
        folder = next((each for each in folders if url.startswith(f"{each.rstrip('/')}/")), None)
        if folder is None:
            yield source
        elif source.is_named:
            raise ConfigError(
                f"{Location(url).shown} is in {Location(folder).shown}, where this command writes. "
                "Choose another output folder."
            )


def _describe_all(
    files: Sequence[SourceFile],
    text_column: str | None,
    errors: DecodingErrors,
    *,
    lists_columns: bool,
) -> list[DescribedFile | Note]:
    return [
        source.describe_or_skip(text_column, errors, lists_columns=lists_columns)
        for source in files
    ]


def work_on(
    parts: Sequence[Part],
    function: Callable[[Part], Record],
    folder: WorkFolder,
    engine: Engine,
    on_done: Callable[[Sequence[Record], int], None],
) -> list[Record]:
    """Call a function for each part that has no record in the folder; return all records in order.

    The function keeps its result in the folder, and returns its record. `on_done` is called first
    with the records that an earlier run has left, then with each new one, and with how many of
    these are from an earlier run.
    """
    done = folder.done()
    found = {
        place: folder.record(done[part.key]) for place, part in enumerate(parts) if part.key in done
    }
    records = {place: record for place, record in found.items() if folder.is_whole(record)}
    on_done([*records.values()], len(records))
    left = [place for place in range(len(parts)) if place not in records]
    for number, record in engine.run(function, [parts[place] for place in left]):
        records[left[number]] = record
        on_done([record], 0)
    return [records[place] for place in range(len(parts))]
