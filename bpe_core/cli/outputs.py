"""What commands read from and write to: places checked first, standard streams, and the bar.

Places are checked before work begins, so that no file and no work is lost. Standard streams may be
closed, full or unable to encode what is printed.
"""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any, Final, cast

import click

from bpe_core.corpus import Location
from bpe_core.errors import ConfigError, CorpusError, explain

if TYPE_CHECKING:
    from bpe_core.formats import Choice, FetchProgress
    from bpe_core.types import Format, TrainingProgress


_STANDARD_INPUT: Final = 0
_STANDARD_OUTPUT: Final = 1

_STEPS: Final = 1_000
_SECONDS_WITHOUT: Final = 1.0
"""Work that takes no longer than this shows no bar."""


def format_to_write(out: str, format_name: str | None) -> Choice:
    """Return the format that `--format` or the name of the output says."""
    from bpe_core.formats import choose_format

    given = cast("Format | None", format_name)
    return choose_format("/dev/stdout" if is_standard_output(out) else out, given)


def is_standard_output(out: str) -> bool:
    """Return True for `-`, and for another name of the same file, such as /dev/stdout."""
    if out == "-":
        return True
    with suppress(OSError, ValueError):
        return os.path.samestat(os.stat(out), os.fstat(_STANDARD_OUTPUT))
    return False


def check_outputs(
    files: Mapping[str, bytes],
    out: str,
    inputs: Iterable[str],
    *,
    force: bool,
    note: str | None = None,
) -> None:
    """Raise `ConfigError` if the files of a tokenizer cannot or must not be written to `out`.

    Of `files`, only the names and the kinds matter. `inputs` are what the command reads. If
    nothing is wrong, the note is shown on stderr.
    """
    from bpe_core.formats import WrittenKind, left_behind, places_for

    if is_standard_output(out):
        if len(files) > 1:
            raise ConfigError(
                f"{', '.join(files)} are too many files for standard output. Name a folder."
            )
        return
    kinds = [WrittenKind.of(BytesIO(data), name) for name, data in files.items()]
    places = dict(zip(places_for(files, out), kinds, strict=True))
    makes_folder = [*places] != [Path(out)]
    if makes_folder and Path(out).exists() and not Path(out).is_dir():
        raise ConfigError(f"{out} is not a folder, and {', '.join(files)} need one. Name a folder.")
    _check_places(places, inputs, force=force, makes_folder=makes_folder)
    others = left_behind(files, out) if makes_folder else []
    if others and not force:
        raise ConfigError(
            f"The folder {out} has {', '.join(others)}, which would belong to another tokenizer "
            "than the new files. Choose another folder, or write there with --force."
        )
    if note is not None:
        click.echo(note, err=True)


def check_output(
    kind: str | None,
    out: str,
    inputs: Iterable[str],
    *,
    force: bool,
    makes_folder: bool = False,
) -> None:
    """Raise `ConfigError` if a file cannot or must not be written to `out`.

    `kind` is that of the new file, and `inputs` are what the command reads.
    """
    if not is_standard_output(out) and not Location(out).is_url:
        _check_places({Path(out): kind}, inputs, force=force, makes_folder=makes_folder)


def write_output(data: bytes, out: str) -> None:
    """Write one file, or standard output."""
    if is_standard_output(out):
        sys.stdout.buffer.write(data)
        return
    from bpe_core.files import write_whole

    try:
        write_whole(Path(out), data)
    except OSError as error:
        raise ConfigError(
            f"{out} cannot be written: {explain(error, 'Choose another path.')}"
        ) from None


@contextmanager
def output_path(out: str) -> Generator[str]:
    """Yield the path to write to: for standard output, a file that is printed afterwards."""
    if not is_standard_output(out):
        yield out
        return
    with TemporaryDirectory(prefix="bpe-output-") as folder:
        path = Path(folder, "output")
        yield str(path)
        sys.stdout.buffer.write(path.read_bytes())


def write_text(text: str, out: str) -> None:
    """Write a text as UTF-8, or to standard output in the encoding of the terminal."""
    if is_standard_output(out):
        click.echo(text, nl=False)
    else:
        write_output(text.encode(), out)


def write_tokenizer(files: Mapping[str, bytes], out: str) -> list[str]:
    """Write a tokenizer's files; return what to tell: their names, unless `out` is the only one."""
    from bpe_core.formats import write_files

    if is_standard_output(out):
        for data in files.values():
            sys.stdout.buffer.write(data)
        return []
    written = write_files(files, out)
    return [] if written == [Path(out)] else [f"Written: {', '.join(map(str, written))}"]


def check_json(out: str, *, wanted: bool) -> None:
    """Raise `ConfigError` if --json and the output of a command are both standard output."""
    if wanted and is_standard_output(out):
        raise ConfigError("--json prints on standard output too. Name a file with --out.")


def print_json(value: object) -> None:
    """Print a value as one line of JSON; nan and infinity become null."""
    click.echo(json.dumps(_finite(value)))


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_finite(each) for each in cast("list[object]", value)]
    return None if isinstance(value, float) and not isfinite(value) else value


def is_replaceable(out: str) -> bool:
    """Return True for a path of a file or of nothing yet; False for `-`, a device or a pipe."""
    return not is_standard_output(out) and (os.path.isfile(out) or not os.path.exists(out))


def _check_places(
    places: Mapping[Path, str | None], inputs: Iterable[str], *, force: bool, makes_folder: bool
) -> None:
    names = [*inputs]
    for place, kind in places.items():
        try:
            _check_place(place, kind, names, force=force)
            folder = Path(os.path.realpath(place)).parent
            while makes_folder and not folder.exists():
                folder = folder.parent
            if not place.exists() or place.is_file():
                # No permission says whether a file can be made, for example in /proc.
                with TemporaryFile(dir=folder):
                    pass
        except ConfigError:
            raise
        except ValueError:
            raise ConfigError(f"{str(place)!r} is not a path: it contains a NUL.") from None
        except OSError as error:
            raise ConfigError(
                f"{place} cannot be written: {explain(error, 'Choose another path.')}"
            ) from None


def _check_place(place: Path, kind: str | None, inputs: Sequence[str], *, force: bool) -> None:
    """Raise `ConfigError` if there is a file that must not be replaced."""
    try:
        old = place.stat()
    except FileNotFoundError:
        return
    if stat.S_ISDIR(old.st_mode):
        raise ConfigError(f"{place} is a folder. Name a file.")
    if not stat.S_ISREG(old.st_mode):
        return
    if any(_is_same(path, old) for name in inputs for path in _paths_named(name)):
        raise ConfigError(
            f"{place} is an input of this command, so it cannot be its output. Choose another path."
        )
    if old.st_size and not force and (kind is None or kind_at(place) != kind):
        found = f"{place} exists, and is not {kind}" if kind else f"{place} exists"
        raise ConfigError(f"{found}. Choose another path, or overwrite it with --force.")
    if not os.access(place, os.W_OK):
        raise ConfigError(f"{place} is write-protected. Choose another path.")


def kind_at(path: str | Path) -> str | None:
    """Return which of the files that commands write there is at a path, or None.

    A pipe is none of them, and reading from it would take what it has from the command.
    """
    from bpe_core.formats import WrittenKind

    if not os.path.isfile(path):
        return None
    with Path(path).open("rb") as file:
        return WrittenKind.of(file, Path(path).name)


def _is_same(path: str | int, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)
    except (OSError, ValueError):
        return False


def _paths_named(name: str) -> Iterator[str | int]:
    """Yield the files that an input names: itself, and those in a folder or of a pattern."""
    path = name.removeprefix("file://")
    if name == "-":
        yield _STANDARD_INPUT
    elif os.path.isdir(path) or not os.path.exists(path):
        with suppress(CorpusError):
            yield from (file.url for file in Location(path).files()[0])
    else:
        yield path


class Bar:
    """A bar for one kind of work after another, each on its own line; used as a context manager.

    >>> with Bar() as bar:  # shows nothing, because stderr is not a terminal here
    ...     bar.show("Reading", 1, 2)
    """

    def __init__(self) -> None:
        self._doing = ""
        self._bar: Any = None
        self._started = 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def show(self, doing: str, done: float, of: float, note: str = "") -> None:
        """Show that `done` of `of` is done, once this work has taken a second, and a note."""
        if not is_watched():
            return
        if doing != self._doing:
            self._end()
            self._doing, self._started = doing, time.monotonic()
            self._bar = click.progressbar(
                length=_STEPS, label=doing, file=sys.stderr, item_show_func=_read_note
            )
        if not self._bar.entered:
            if time.monotonic() - self._started < _SECONDS_WITHOUT:
                return
            self._bar.__enter__()
        steps = int(_STEPS * min(1.0, done / of)) - self._bar.pos if of else 0
        self._bar.update(max(0, steps), note or None)

    def show_counting(self, share: float) -> None:
        """Show the share of the text whose words are counted, as the `on_counting` of `train`."""
        self.show("Counting words", share, 1)

    def show_training(self, progress: TrainingProgress) -> None:
        """Show the progress of `train` or `extend`, as its `on_progress`."""
        if progress.seconds_compiling is not None:
            self.show("Compiling the engine, once on this machine", 0, 1)
        else:
            self.show("Learning merges", progress.merges_done, progress.merges_wanted)

    def show_removals(self, done: int, of: int) -> None:
        """Show the progress of `shrink`, as its `on_progress`."""
        self.show("Removing tokens", done, of)

    def show_download(self, progress: FetchProgress) -> None:
        """Show the progress of a download, as the `on_progress` of `fetch`."""
        self.show(f"Downloading {progress.source}", progress.done_bytes, progress.total_bytes)

    def _end(self) -> None:
        if self._bar is not None and self._bar.entered:
            self._bar.__exit__(None, None, None)
        self._bar = None
        self._doing = ""


class _ClosedOutput(io.RawIOBase):
    """A standard output that was closed before the program began: writing to it fails, once."""

    has_failed = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.has_failed:  # Python writes what is left again when it exits
            return len(data)
        self.has_failed = True
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def open_missing_streams() -> None:
    """Replace closed standard streams, for which Python has None.

    Their descriptors are taken, so that nothing is printed into a file that is opened later.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is None:  # pyright: ignore[reportUnnecessaryComparison]
            # Takes the lowest free descriptor, which is that of the stream.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_ClosedOutput()), encoding="utf-8")
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end


class StandardInput:
    """Standard input, read like a file."""

    name = "standard input"

    def read(self, size: int = -1) -> bytes:
        """Read all, or up to `size` bytes; raises `CorpusError` if it is closed or a folder."""
        return self._read("read", size)

    def readline(self) -> bytes:
        """Read a line with its end, or nothing at the end; raises what `read` raises."""
        return self._read("readline")

    def _read(self, how: str, *size: int) -> bytes:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise CorpusError("Standard input is closed. Name a file, or pipe text to the command.")
        try:
            return getattr(sys.stdin.buffer, how)(*size)
        except OSError as error:
            raise CorpusError(
                f"Standard input cannot be read: {explain(error, '')} Name a file, or pipe text to "
                "the command."
            ) from None


def describe_output_error(error: OSError | UnicodeEncodeError) -> str:
    """Return what went wrong while standard output was written, and what to do.

    >>> describe_output_error(OSError(28, "No space left on device"))
    'Standard output cannot be written: No space left on device. Free some space there, or choose \
another disk.'
    """
    if isinstance(error, OSError):
        return f"Standard output cannot be written: {explain(error, '')}".rstrip()
    character = error.object[error.start]
    return (
        f"Standard output cannot be written: its encoding, {sys.stdout.encoding}, has no "
        f"U+{ord(character):04X}. Set PYTHONIOENCODING=utf-8."
    )


def abandon_output() -> None:
    """Discard what standard output still holds, which Python would write again when it exits."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def print_error(message: str) -> None:
    """Print an error as one line, unless standard error is closed or full too."""
    with suppress(OSError):
        click.ClickException(" ".join(message.split())).show()


def is_watched() -> bool:
    """Return True if stderr is a terminal."""
    return sys.stderr.isatty()


def _read_note(note: str | None) -> str | None:
    return note
