"""Empty environments in which wheels are tried and measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def make(folder: Path, python: str, wheel: Path, extra: str = "") -> Path:
    """Install a wheel with an extra into a new environment; return its Python.

    python: the command of the Python that the environment is for. What the wheel requires is
    downloaded.
    """
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    made = folder / "bin" / "python"
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [sys.executable, "-m", "pip", "--python", str(made), "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", wanted], check=True)
    return made


def packages(python: Path) -> Path:
    """Return the folder of an environment that holds its packages."""
    (found,) = python.parents[1].glob("lib/python3.*/site-packages")
    return found


def installed_mb(python: Path) -> float:
    """Return the size of all files that an environment's packages have, in MB."""
    files = (path for path in packages(python).rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / 1_000_000
