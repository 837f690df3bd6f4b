"""Run code in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

import psutil

ROOT = Path(__file__).parent.parent
NO_CHANGES: Mapping[str, str] = MappingProxyType({})


def run_python(
    code: str, environment: Mapping[str, str] = NO_CHANGES, *, folder: Path = ROOT
) -> str:
    """Return what some code prints in a new process; its errors fail the test."""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def run_without_compilation(code: str) -> str:
    """Return what some code prints where Numba compiles nothing."""
    # NumPy's scalars warn of overflow, on which hashing relies; compiled code does not.
    environment = {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore::RuntimeWarning"}
    return run_python(code, environment)


def children_with(word: str) -> list[psutil.Process]:
    """Return the processes below this one whose command line has a word."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        # One that has just ended has no command line.
        with suppress(psutil.NoSuchProcess):
            if word in process.cmdline():
                found.append(process)
    return found
