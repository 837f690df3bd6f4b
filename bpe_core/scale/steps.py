"""The steps of a job on more text than one machine holds: divide it, then work on each part.

Finished parts are kept in a folder, so a run that was killed can resume.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike, fspath
from typing import Any, BinaryIO, Final, Generic, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from bpe_core.checks import check_choice, several
from bpe_core.corpus import (
    DecodingErrors,
    Note,
    delete_files,
    full_url,
    is_url,
    names_in,
    reading,
    reasons,
    shown,
    size_at,
    writing,
)
from bpe_core.errors import ConfigError, CorpusError, UnsupportedFileError
from bpe_core.scale.engines import Engine
from bpe_core.scale.sources import DescribedFile, Source, describe_or_skip, find_sources
from bpe_core.scale.stretches import Stretch, divide_files, key_for, stretch_bytes_for

_BATCH: Final = 64
"""The files that a worker looks at in one call: a call takes longer than a small file."""
_PIECE: Final = 1 << 20
_OWN_NAME: Final = re.compile(
    r"[0-9a-f]{32}(-[0-9]+)?(\.[0-9a-f]{32})?\.[a-z]+|\.unfinished-[0-9a-f]{32}(-.*)?"
)

Record = dict[str, Any]
"""What is known of a finished part, as JSON values."""


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
        return cls(path if is_url(path) else os.path.abspath(path))

    def done(self) -> dict[str, str]:
        """Return the names of the records of finished parts, by key.

        >>> WorkFolder("/no/such/folder").done()
        {}
        """
        names = names_in(self.url)
        return {name.split(".")[0]: name for name in names if name.endswith(".json")}

    def new_name(self, key: str, suffix: str) -> str:
        """Return a name for a file of a part that no other worker uses."""
        return f"{key}.{uuid4().hex}.{suffix}"

    @contextmanager
    def writing(self, name: str) -> Generator[BinaryIO]:
        """Open a file of a part to write."""
        with writing(self.path(name), sync_to_disk=False) as file:
            yield file

    def finish(self, key: str, record: Record, files: Iterable[str] = ()) -> Record:
        """Write the record of a part, whose files are complete; return it."""
        finished = {**record, "sizes": {name: size_at(self.path(name)) for name in files}}
        with self.writing(f"{key}.json") as file:
            file.write(json.dumps(finished).encode())
        return finished

    def is_whole(self, record: Record) -> bool:
        """Return True if the files of a part are as long as its record says."""
        sizes: dict[str, int] = record["sizes"]
        return all(size_at(self.path(name)) == size for name, size in sizes.items())

    def record(self, name: str) -> Record:
        """Read the record of a finished part; raises CorpusError if it is damaged."""
        with reading(self.path(name)) as file:
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
        delete_files(self.url, [name for name in names_in(self.url) if _OWN_NAME.fullmatch(name)])


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


class Item(Protocol):
    """A part of a job: its key is equal only for parts with the same result."""

    @property
    def key(self) -> str:
        """The name under which its record is kept."""
        ...


Part = TypeVar("Part", bound=Item)
Figures = TypeVar("Figures", bound=NamedTuple)


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
    >>> from bpe_core.scale import ThisProcess
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("hug hugs")
    ...     divided = divide_sources([folder], ThisProcess(), pretokenizer="gpt2")
    >>> [stretch.n_bytes for stretch in divided.stretches]
    [8]
    """
    remedy = "give a list of paths or URLs"
    names: list[str] = [fspath(each) for each in several(sources, "sources", remedy)]
    check_choice("errors", errors, DecodingErrors, ConfigError)
    found = [*_leave_out(find_sources(names), [full_url(folder) for folder in written_to])]
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


def _saved(source: Source, folder: WorkFolder) -> Source:
    """Return a source that can be read again, and whose size is known."""
    if not source.is_named or is_url(source.url):
        return source
    if source.size and os.path.isfile(source.url):
        return source
    name = f"{key_for('saved', source.url)}.saved"
    digest = hashlib.sha256()
    size = 0
    with reading(source.url) as file:
        if not (data := file.read(_PIECE)):
            return source._replace(size=0)
        with folder.writing(name) as copy:
            while data:
                copy.write(data)
                digest.update(data)
                size += len(data)
                data = file.read(_PIECE)
    return source._replace(url=folder.path(name), size=size, version=digest.hexdigest())


def _leave_out(sources: Iterable[Source], folders: Sequence[str]) -> Iterator[Source]:
    """Yield the sources that are not in folders; raise ConfigError if one of these was named."""
    for source in sources:
        # The URLs of unnamed files are full already, and there may be very many.
        is_full = is_url(source.url) and not source.is_named
        url = source.url if is_full else full_url(source.url)
        folder = next((each for each in folders if url.startswith(f"{each.rstrip('/')}/")), None)
        if folder is None:
            yield source
        elif source.is_named:
            raise ConfigError(
                f"{shown(url)} is in {shown(folder)}, where this command writes. Choose another "
                "output folder."
            )


def _describe_all(
    files: Sequence[Source],
    text_column: str | None,
    errors: DecodingErrors,
    *,
    lists_columns: bool,
) -> list[DescribedFile | Note]:
    return [
        describe_or_skip(source, text_column, errors, lists_columns=lists_columns)
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
