"""Try the lowest and the newest versions of other packages that pyproject.toml allows.

`python -m scripts.check_versions` installs them into environments of their own, which takes some
minutes: what compiles the kernels in both versions, and what the app needs in the lowest ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from scripts.prebuilt_wheel import build_wheel

ROOT: Final = Path(__file__).parents[1]
_UV: Final = Path(sys.executable).with_name("uv")
_CHECK: Final = ROOT / "scripts" / "check_installed.py"


def allowed_versions() -> dict[str, list[str]]:
    """Return what the library and its extra `compile` require, by the name of the check."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    allowed = [*project["dependencies"], *project["optional-dependencies"]["compile"]]
    lowest = [each.split(",")[0].replace(">=", "==") for each in allowed]
    return {"the lowest versions": lowest, "the newest versions": allowed}


def check_kernels(requirements: list[str], folder: Path) -> str:
    """Return the versions that were installed, once the kernels agree with plain Python."""
    python = _installed(folder / "venv", *requirements)
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

    run("bpe_core.kernels.compiling")
    if run("tests.kernels_alike") != "False\n":
        sys.exit("The library of kernels could not be built: they are loaded by Numba.")
    return ", ".join(run("pip", "freeze").splitlines())


def lowest_of_app() -> list[str]:
    """Return the lowest versions with which the app can be installed, and what they need.

    Some packages refuse the lowest versions of others.
    """
    options = ("--quiet", "--extra", "app", "--resolution", "lowest-direct", "--no-annotate")
    command = [_UV, "pip", "compile", "pyproject.toml", *options, "--no-header"]
    return subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()


def check_app(requirements: list[str], folder: Path) -> None:
    """Install the app with some versions of what it needs, start it, and ask for its figures."""
    wheel = build_wheel(folder, with_kernels=False)
    python = _installed(folder / "venv", f"{wheel}[app]", *requirements)
    subprocess.run([python, "-I", _CHECK, "--python"], cwd=folder, check=True)


def _installed(folder: Path, *requirements: str) -> Path:
    """Install requirements into a new environment, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
    return python


def main() -> None:
    """Check both ends of the range, and print what was installed."""
    for name, requirements in allowed_versions().items():
        with TemporaryDirectory() as folder:
            versions = check_kernels(requirements, Path(folder))
            print(f"{name}: kernels and plain Python agree ({versions})")
    with TemporaryDirectory() as folder:
        print("the lowest versions of what the app needs:", end=" ", flush=True)
        check_app(lowest_of_app(), Path(folder))


if __name__ == "__main__":
    main()
