"""Standard input and output that are closed, full, or unable to encode what is printed."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any

import click

from bpe_core.errors import CorpusError


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
                f"Standard input cannot be read: {error.strerror}. Name a file, or pipe text to "
                "the command."
            ) from None


def describe_output_error(error: OSError | UnicodeEncodeError) -> str:
    """Return what went wrong while standard output was written, and what to do.

    >>> describe_output_error(OSError(28, "No space left on device"))
    'Standard output cannot be written: No space left on device.'
    """
    if isinstance(error, OSError):
        return f"Standard output cannot be written: {error.strerror or error}."
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
