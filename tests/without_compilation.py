"""Run code in a separate process whose kernels are plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent


def printed_without_compilation(code: str) -> str:
    """Return what some code prints when Numba compiles nothing; its errors fail the test."""
    # NumPy's scalars warn of overflow, on which hashing relies; compiled code does not.
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-c", code],
        cwd=_ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
