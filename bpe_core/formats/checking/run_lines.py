"""Run lines of Python that use another library, in another process, and return the ids they give.

Those libraries are compiled: a crash in one ends the whole process, with every visitor's work, and
raises nothing that could be caught.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import FormatError, ProcessError
from bpe_core.extras import needs_extra
from bpe_core.processes.limits import Limits

with needs_extra("formats", "Checking with another library"):
    from bpe_core.processes.call import call

_MAX_SECONDS: Final = 120.0
# Several threads may run in that time.
_MAX_PROCESSOR_SECONDS: Final = 600.0
_QUIET: Final = {
    "TOKENIZERS_PARALLELISM": "false",
    # The files are local, and nothing is to be looked up or stored elsewhere.
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


class TrialError(FormatError):
    """Another library crashed, hung or raised an error.

    An error's message is that library's own, unlike all others of this package: it reports what the
    library does with our file, in words that its documentation and its users know.
    """


def ids_by_lines(
    load: str,
    encode: str,
    texts: Sequence[str],
    folder: Path,
    should_stop: Callable[[], bool] | None = None,
) -> list[list[int]]:
    """Run lines of Python in a folder, and return the ids of each text.

    `load` opens a tokenizer, and the expression `encode` gives the ids of `text`. The caller must
    have written both, because they run as they are. Raises `TrialError` if they crash, take longer
    than two minutes, or raise an exception, whose type and first words its message repeats; and
    CancelledError once `should_stop` returns True.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ids_by_lines("shift = 1", "[ord(each) + shift for each in text]", ["a"], Path(folder))
    [[98]]
    """
    # Someone may be waiting for a page on the same processors, and nobody waits for this.
    limits = Limits(_MAX_SECONDS, processor_seconds=_MAX_PROCESSOR_SECONDS, niceness=5)
    try:
        return call(
            run_lines, load, encode, list(texts), folder, limits=limits, should_stop=should_stop
        )
    except ProcessError as error:
        raise TrialError(str(error)) from None


def run_lines(load: str, encode: str, texts: list[str], folder: Path) -> list[list[int]]:
    """Run the lines of `ids_by_lines` in this process; raises `TrialError` for what they raise."""
    os.environ |= _QUIET
    os.chdir(folder)
    names: dict[str, Any] = {}
    try:
        exec(load, names)
        expression = compile(encode, "encode", "eval")
        return [[int(id) for id in eval(expression, names, {"text": text})] for text in texts]
    except BaseException as error:
        # Panics in Rust code derive from BaseException.
        raise TrialError(_describe_error(error)) from None


def _describe_error(error: BaseException) -> str:
    """Return an error's type and message; without a message, the line of code that raised it."""
    words = " ".join(str(error).split())[:200]
    if not words:
        line = traceback.extract_tb(error.__traceback__)[-1].line
        words = f"raised by “{line[:120]}”." if line else "it gives no reason."
    return f"{type(error).__name__}: {words}"
