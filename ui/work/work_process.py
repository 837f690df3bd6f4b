"""What the processes that do a visitor's work share: limits, and answers as lines of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Final, cast

from bpe_core.child_process import child
from bpe_core.errors import BpeError
from bpe_core.processes.limits import Limits, limit_this_process
from ui.logs import Code, event

# Training takes ten times the size of a text, and a run of a million merges a gigabyte.
_MOST_BYTES: Final = 8 * 2**30
_MOST_TIMES_CORPUS: Final = 24
_MOST_SECONDS: Final = 24 * 3_600.0
_SECONDS_BETWEEN_REPORTS: Final = 0.1
_NICENESS: Final = 2
"""Pages go first when processors are busy."""


def work_process(module: str, folder: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Run a module on a folder, which has what is asked for, until the block ends."""
    return child(module, str(folder), most_seconds=_MOST_SECONDS)


def answers_of(
    process: subprocess.Popen[bytes], failed: type[BpeError], advice: str
) -> Iterator[dict[str, Any]]:
    """Yield what a process answers; raise `failed` with what its work raised.

    `advice` follows the sentence on an error that nobody foresaw.
    """
    for line in cast("IO[bytes]", process.stdout):
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise failed(answer["error"])
        if "unforeseen" in answer:
            name = answer["unforeseen"]
            event("unforeseen_error", "error", error=Code(name), in_process=1)
            raise failed(f"It stopped because of an error in the app ({name}). {advice}")
        yield answer


def write(answer: Mapping[str, Any]) -> None:
    """Write a line for the parent."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def work_and_answer(work: Callable[[], Mapping[str, Any]], n_bytes: int) -> None:
    """Do the work on a corpus of `n_bytes` within limits; write what it returns or raises."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(_NICENESS)
    limit_this_process(Limits(_MOST_SECONDS, _MOST_BYTES + _MOST_TIMES_CORPUS * n_bytes))
    try:
        write(work())
    except BpeError as error:
        write({"error": str(error)})
    except MemoryError:
        # As if the system had ended it.
        sys.exit(1)
    except Exception as error:
        write({"unforeseen": type(error).__name__})


class Reporter:
    """Pass on the progress, a few times a second."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, progress: Any, *, is_last: bool = False) -> None:
        """Write a report, or leave it out; the last one is always written."""
        now = time.monotonic()
        if now >= self._next or is_last:
            self._next = now + _SECONDS_BETWEEN_REPORTS
            write({"progress": progress})
