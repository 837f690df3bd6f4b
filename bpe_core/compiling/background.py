"""Compile the kernels in the background, or wait for them with progress.

If the compiler fails, this process doesn't try again and uses plain Python for everything.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Final

from bpe_core.compiling.cache import kernels_are_compiled
from bpe_core.compiling.processes import compile_kernels

_SECONDS_BETWEEN_LOOKS: Final = 0.2

_thread: threading.Thread | None = None
_failed = threading.Event()
_starting = threading.Lock()


def may_use() -> bool:
    """Return False if compiling failed, or if kernels must be plain Python, as in some tests."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" and not _failed.is_set()


def may_compile() -> bool:
    """Return True if there is a compiler, and it has not failed in this process."""
    return may_use() and _has_compiler()


def compile_in_background() -> None:
    """Start compiling in other processes, unless that is done or under way, and return at once."""
    global _thread
    with _starting:
        if not may_compile() or kernels_are_compiled():
            return
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=compile_or_report, daemon=True)
            _thread.start()


def wait_for_kernels(
    on_wait: Callable[[float], None] | None = None, should_stop: Callable[[], bool] | None = None
) -> bool:
    """Wait until the kernels are compiled, starting the compiler if needed, and return True.

    `on_wait` is called about every 0.2 s with the seconds waited. Returns False if `should_stop()`
    returns True, the compiler fails, or there is none.
    """
    started = time.perf_counter()
    compile_in_background()
    while not kernels_are_compiled():
        if not may_compile() or (should_stop is not None and should_stop()):
            return False
        if on_wait is not None:
            on_wait(time.perf_counter() - started)
        if _thread is not None:
            _thread.join(_SECONDS_BETWEEN_LOOKS)
        compile_in_background()
    return True


def compile_or_report() -> None:
    """Compile the kernels; if that fails, write the error to stderr and use plain Python."""
    try:
        compile_kernels()
    except Exception as error:  # after any failure, plain Python is used instead
        _failed.set()
        sys.stderr.write(
            f"The engine could not be compiled ({error}). Using slower, plain Python instead.\n"
        )


@cache
def _has_compiler() -> bool:
    return find_spec("numba") is not None
