"""Build the wheel and the source distribution, and install the wheel without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution, distributions
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from tests.new_process import ROOT

NAME = "bpe-explorer"
CHECK = ROOT / "scripts" / "check_installed.py"


def copy_source(folder: Path) -> Path:
    """Copy the source, without ignored files, because building writes into its folder."""
    patterns = (ROOT / ".gitignore").read_text("utf-8").split()
    anywhere = shutil.ignore_patterns(*(name.strip("/") for name in patterns if name[0] != "/"))
    on_top = shutil.ignore_patterns(".git", *(name.strip("/") for name in patterns))

    def ignored(place: str, names: list[str]) -> set[str]:
        return (on_top if Path(place) == ROOT else anywhere)(place, names)

    return shutil.copytree(ROOT, folder / "source", ignore=ignored)


def build(kind: str, source: Path) -> Path:
    """Build a "wheel" or an "sdist" from a source folder, as pip does; return the file."""
    code = f"from setuptools.build_meta import build_{kind}; print(build_{kind}('dist'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return source / "dist" / done.stdout.splitlines()[-1]


def install(wheel: Path, folder: Path, extras: Iterable[str] = ()) -> Path:
    """Create an environment with only a wheel and its requirements; return its Python executable.

    The requirements in the wheel's metadata are linked from the environment that runs the tests,
    so a package that the metadata omits is missing here.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    subprocess.run([*pip_command(), "--python", python, "install", *options, wheel], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (installed,) = distributions(name=NAME, path=[str(packages)])
    for needed in _required(installed, frozenset(extras)):
        source = Path(str(needed.locate_file(".")))
        for top in {file.parts[0] for file in needed.files or ()} - {".."}:
            if not (packages / top).exists() and (source / top).exists():
                (packages / top).symlink_to(source / top)
    return python


def run_installed(*command: str | Path, cwd: Path, stdin: str = "", **environment: str) -> str:
    """Return a program's output, without environment variables that point to this checkout."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**kept, **environment},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pip_command() -> tuple[str, ...]:
    """Return the command for pip, which environments made by Debian's venv may lack."""
    base = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    return sys.executable if find_spec("pip") else str(base), "-m", "pip"


def _required(
    installed: Distribution, extras: frozenset[str], seen: set[tuple[str, str]] | None = None
) -> Iterator[Distribution]:
    """Yield a distribution's requirements, including those of its extras, and theirs in turn."""
    seen = set() if seen is None else seen
    for line in installed.requires or ():
        wanted = Requirement(line)
        for extra in ("", *extras):
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
                continue
            found = installed if wanted.name == NAME else distribution(wanted.name)
            for asked in ("", *wanted.extras):
                if (wanted.name, asked) not in seen:
                    seen.add((wanted.name, asked))
                    yield found
                    yield from _required(found, frozenset((asked,)), seen)
