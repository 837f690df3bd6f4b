"""Limit the memory and the processor time of a process that reads untrusted data."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).absolute().parents[1]


def environment() -> dict[str, str]:
    """Return the environment for a child process that imports this package and uses few threads.

    >>> environment()["OPENBLAS_NUM_THREADS"]
    '1'
    """
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    return {
        **os.environ,
        "PYTHONPATH": path,
        # Otherwise NumPy's linear algebra starts a thread per processor, half of the running time.
        "OPENBLAS_NUM_THREADS": "1",
        # Both of these reserve address space, which counts as memory here.
        "MALLOC_ARENA_MAX": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }


def limit_this_process(n_bytes: int, n_seconds: int) -> None:
    """Limit this process's address space and processor time, where the system can.

    An allocation beyond the limit then fails, and the system ends the process after `n_seconds`.
    Lower limits stay as they are.
    """
    if sys.platform == "win32":
        return
    import resource

    for kind, most in ((resource.RLIMIT_AS, n_bytes), (resource.RLIMIT_CPU, n_seconds)):
        soft, hard = resource.getrlimit(kind)
        lowest = min(n for n in (most, soft, hard) if n != resource.RLIM_INFINITY)
        resource.setrlimit(kind, (lowest, hard))
