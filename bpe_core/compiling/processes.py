"""Compile all kernels in two separate processes.

Compiling in a thread of this process would block the others: a task of 10 ms was delayed by up to
285 ms, but by only 3 ms next to two processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Final

from bpe_core.child_process import follow_parent
from bpe_core.compiling.cache import (
    KERNELS,
    compiling_lock,
    forget_compiled,
    kernels_are_compiled,
    mark_compiled,
)
from bpe_core.compiling.modules_to_compile import SHARES, compile_share

_SECONDS_BETWEEN_LOOKS: Final = 0.2
_MOST_SECONDS: Final = 300.0


def compile_kernels() -> None:
    """Compile the kernels if necessary; wait if another process is compiling them.

    Raises `subprocess.SubprocessError` if the compiler fails (its output is on stderr) or takes
    five minutes, `TimeoutError` if another process does, and `OSError` if no file can be written.
    """
    deadline = time.monotonic() + _MOST_SECONDS
    lock = compiling_lock()
    while not kernels_are_compiled():
        with lock as taken:
            # Another process may have finished between the check and the lock.
            if taken and not kernels_are_compiled():
                forget_compiled()
                _compile_in_processes()
                mark_compiled()
        if not taken:
            if time.monotonic() > deadline:
                raise TimeoutError(f"another process has held {lock.path} for too long")
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def compile_share_for_parent(share: int) -> None:
    """Compile one share in this process; exit early if the parent process ends."""
    follow_parent()
    compile_share(share)


def _compile_in_processes() -> None:
    """Run `python -m bpe_core.compiling SHARE` for every share at once."""
    command = [sys.executable, "-m", "bpe_core.compiling"]
    path = os.pathsep.join(filter(None, [str(KERNELS.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    deadline = time.monotonic() + _MOST_SECONDS
    # Nothing is written to their standard input. It closes when this process ends, even if it is
    # killed, and they exit then.
    processes = [
        subprocess.Popen([*command, str(share)], env=environment, stdin=subprocess.PIPE)
        for share in range(len(SHARES))
    ]
    try:
        for process in processes:
            if process.wait(max(0.0, deadline - time.monotonic())):
                raise subprocess.CalledProcessError(process.returncode, process.args)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
