"""Try wheels in empty environments: `python -m scripts.check_wheels python3.11 python3.12`.

For each Python that is given, the wheel with kernels, the one without, and that with the extra
`compile` are installed and checked (`check_installed.py`), and checked again with nothing to lean
on: no C compiler, no HOME, and a folder of packages that cannot be written to. Runs on Linux.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scripts.prebuilt_wheel import build_wheel

_CHECK: Final = Path(__file__).with_name("check_installed.py")
# Without these, permissions bind the superuser too.
_WITHOUT_PRIVILEGE: Final = ("--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")


def main(pythons: list[str]) -> None:
    """Check all wheels under all Pythons; exit with an error if one fails."""
    with TemporaryDirectory() as folder:
        built = Path(folder)
        kernels, pure = (build_wheel(built, with_kernels=each) for each in (True, False))
        for number, python in enumerate(pythons or [sys.executable]):
            check(install(built / f"{number}-kernels", python, kernels), "--kernels")
            check(install(built / f"{number}-python", python, pure), "--python")
            compiled = install(built / f"{number}-compile", python, pure, "compile")
            check(compiled, "--kernels")


def install(folder: Path, python: str, wheel: Path, extra: str = "") -> Path:
    """Install a wheel with an extra into a new environment; return its Python.

    What the wheel requires is downloaded.
    """
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    made = folder / "bin" / "python"
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [sys.executable, "-m", "pip", "--python", str(made), "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", wanted], check=True)
    return made


def check(python: Path, expected: str) -> None:
    """Check an environment, and again without a compiler, HOME, or permission to write."""
    command = [str(python), "-I", str(_CHECK), expected]
    print("as installed:", end=" ", flush=True)
    # Kernels that another environment compiled must not be found.
    own = {**os.environ, "XDG_CACHE_HOME": str(python.parent / "cache")}
    subprocess.run(command, cwd=python.parent, env=own, check=True)
    (packages,) = python.parents[1].glob("lib/python3.*/site-packages")
    subprocess.run(["chmod", "-R", "a-w", packages], check=True)
    print("with nothing to lean on:", end=" ", flush=True)
    others = [shutil.which("setpriv"), *_WITHOUT_PRIVILEGE] if os.geteuid() == 0 else []
    nothing = {"PATH": "", "LANG": "C.UTF-8", "XDG_CACHE_HOME": str(packages)}
    subprocess.run([*others, *command], cwd=python.parent, env=nothing, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
