"""Compile and try the kernels with the lowest and the newest NumPy and Numba that are allowed.

`python -m scripts.check_kernel_versions` installs both pairs of versions into environments of their
own, which takes some minutes. The limits are those of pyproject.toml.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]


def allowed_versions() -> dict[str, list[str]]:
    """Return what the library and its extra `compile` require, by the name of the check."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    allowed = [*project["dependencies"], *project["optional-dependencies"]["compile"]]
    lowest = [each.split(",")[0].replace(">=", "==") for each in allowed]
    return {"the lowest versions": lowest, "the newest versions": allowed}


def check(requirements: list[str], folder: Path) -> str:
    """Return the versions that were installed, once the kernels agree with plain Python."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels"), "PYTHONPATH": ""}

    def run(*arguments: str) -> str:
        return subprocess.run(
            [python, "-m", *arguments],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    run("pip", "install", "--quiet", *requirements)
    run("bpe_core.kernels.compiling")
    if run("tests.kernels_alike") != "False\n":
        sys.exit("The library of kernels could not be built: they are loaded by Numba.")
    return ", ".join(run("pip", "freeze").splitlines())


def main() -> None:
    """Check both ends of the range, and print what was installed."""
    for name, requirements in allowed_versions().items():
        with TemporaryDirectory() as folder:
            print(f"{name}: kernels and plain Python agree ({check(requirements, Path(folder))})")


if __name__ == "__main__":
    main()
