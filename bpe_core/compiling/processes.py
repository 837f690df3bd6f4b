"""Compile all kernels in separate processes.

Compiling in a thread of this process would block the others: a task of 10 ms was delayed by up to
285 ms, but by only 3 ms next to two processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.child_process import follow_parent
from bpe_core.compiling.cache import (
    MOST_SECONDS,
    compiling_lock,
    forget_compiled,
    forget_libraries,
    keep_library,
    kernels_are_compiled,
    mark_compiled,
    scratch_folder,
)
from bpe_core.compiling.modules_to_compile import (
    MODULES,
    N_SHARES,
    compile_for_numba,
    is_in_share,
)
from bpe_core.kernels.folder import (
    KERNELS,
    X86_64_V3,
    current_library_stamp,
    library_is_wanted,
    library_stamp,
    numba_variables,
    processor,
)

_SECONDS_BETWEEN_LOOKS: Final = 0.2

_SHARE, _LINK, _CACHE = "share", "link", "cache"
"""The tasks of the processes that this one starts: compile a share of the library, link the shares,
or compile a share into Numba's cache."""


def compile_kernels() -> None:
    """Compile the kernels if necessary; wait if another process is compiling them.

    Raises `subprocess.SubprocessError` if the compiler fails (its output is on stderr) or takes
    five minutes, `TimeoutError` if another process does, `OSError` if no file can be written, and
    `RuntimeError` if the sources have changed since this process read them.
    """
    deadline = time.monotonic() + MOST_SECONDS
    lock = compiling_lock()
    while not kernels_are_compiled():
        with lock as taken:
            # Another process may have finished between the check and the lock.
            if taken and not kernels_are_compiled():
                _compile()
        if not taken:
            if time.monotonic() > deadline:
                raise TimeoutError(f"another process has held {lock.path} for too long")
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _compile() -> None:
    if not library_is_wanted() or not _build_library():
        _fill_numbas_cache()


def compile_for_parent(task: str, *arguments: str) -> None:
    """Do one task of the compiler in this process; exit early if the parent process ends."""
    follow_parent()
    if task == _CACHE:
        compile_for_numba(int(arguments[0]))
        return
    from bpe_core.kernels.library_builder import compile_share, link_shares

    folder = Path(arguments[-1])
    if task == _SHARE:
        share = int(arguments[0])
        compile_share(MODULES, partial(is_in_share, share), _bitcode(folder, share))
    else:
        link_shares([_bitcode(folder, share) for share in range(N_SHARES)], folder)


def _bitcode(folder: Path, share: int) -> Path:
    return folder / f"share-{share}.bc"


def _build_library() -> bool:
    """Build the library of kernels; if that fails, report it on stderr and return False."""
    forget_libraries()
    kind = {"NUMBA_CPU_NAME": X86_64_V3, "NUMBA_CPU_FEATURES": ""}
    variables = kind if processor() == X86_64_V3 else {}
    try:
        with scratch_folder() as scratch:
            _run_all([[_SHARE, str(share), scratch] for share in range(N_SHARES)], variables)
            _run_all([[_LINK, scratch]], variables)
            if current_library_stamp() != library_stamp():
                raise RuntimeError("the sources have changed; start again")
            keep_library(Path(scratch))
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(
            f"The library of kernels could not be built ({error}). Numba compiles them instead, "
            "and loads them more slowly.\n"
        )
        return False
    return True


def _fill_numbas_cache() -> None:
    forget_compiled()
    _run_all([[_CACHE, str(share)] for share in range(N_SHARES)], {"BPE_KERNELS": "numba"})
    mark_compiled()


def _run_all(tasks: list[list[str]], variables: dict[str, str]) -> None:
    """Run `python -m bpe_core.compiling TASK ...` for all tasks at once."""
    command = [sys.executable, "-m", "bpe_core.compiling"]
    path = os.pathsep.join(filter(None, [str(KERNELS.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = os.environ | numba_variables() | variables
    environment |= {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "0"}
    deadline = time.monotonic() + MOST_SECONDS
    # Nothing is written to their standard input. It closes when this process ends, even if it is
    # killed, and they exit then.
    processes = [
        subprocess.Popen([*command, *task], env=environment, stdin=subprocess.PIPE)
        for task in tasks
    ]
    try:
        for process in processes:
            if process.wait(max(0.0, deadline - time.monotonic())):
                raise subprocess.CalledProcessError(process.returncode, process.args)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
