"""Standard streams: closed, full or unable to encode what is printed, and the bar on a terminal."""

from __future__ import annotations

import errno
import io
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from bpe_core.errors import CorpusError, explain

if TYPE_CHECKING:
    from bpe_core.published import FetchProgress
    from bpe_core.types import TrainingProgress


_STEPS: Final = 1_000
_SECONDS_WITHOUT: Final = 1.0
"""Work that takes no longer than this shows no bar."""


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
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise CorpusError("Standard input is closed. Name a file, or pipe text to the command.")
        try:
            return sys.stdin.buffer.read(size)
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
