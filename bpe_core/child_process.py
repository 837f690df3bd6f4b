"""Start a child process of this package's own code, end it in time, and end with the parent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bpe_core.processes.limits import GB, Limits, environment

_MOST_BYTES_OF_A_MESSAGE = 1 << 12


@contextmanager
def child(
    module: str,
    *arguments: str,
    stdin: IO[bytes] | int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    most_seconds: float,
) -> Generator[subprocess.Popen[bytes]]:
    """Run `python -m MODULE ARGUMENT ...`; kill it when the block ends or its time is up.

    `variables` are added to its environment, and `folder` is where it runs. What it writes to
    stderr is discarded, because it may quote a visitor's text. The child limits its own memory and
    processor time: see `limit_this_process`.

    >>> with child("platform", most_seconds=60) as process:
    ...     len(process.stdout.read()) > 5
    True
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**environment(Limits(most_seconds, memory=GB)), **(variables or {})},
    )
    timer = threading.Timer(most_seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        with process:
            try:
                yield process
            finally:
                process.kill()
    finally:
        timer.cancel()


def framed(question: object, *data: bytes) -> bytes:
    """Return a question and data as bytes for a child's standard input; see `read_question`.

    >>> import io
    >>> source = io.BytesIO(framed({"name": "a.txt"}, b"hug", b"s"))
    >>> read_question(source), source.read()
    ({'name': 'a.txt'}, b'hugs')
    """
    asked = json.dumps(question).encode()
    return b"".join([len(asked).to_bytes(8, "little"), asked, *data])


def read_question(source: IO[bytes]) -> Any:
    """Read the question of `framed`; the data are what is left in the source."""
    return json.loads(source.read(int.from_bytes(source.read(8), "little")))


def follow_parent(on_message: Callable[[bytes], None] | None = None) -> None:
    """Call `on_message` with what the parent writes to this process's standard input, in a thread.

    The input closes when the parent ends, even if it is killed; then this process exits.
    """

    def follow() -> None:
        # Not through sys.stdin, which Python locks at exit.
        while message := os.read(0, _MOST_BYTES_OF_A_MESSAGE):
            if on_message is not None:
                on_message(message)
        os._exit(1)

    threading.Thread(target=follow, name="parent", daemon=True).start()
