"""Follow the Dockerfile in a folder, because the tests cannot build an image.

The requirements are not installed: `.venv` is a link to the environment that runs the tests. The
base image and the server's user are left out too, because only an image builder provides them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.new_process import ROOT

INSTALL = ["scripts/container/install.sh"]
MAKE_DATA = ["install", "-d", "-o", "10001", "-g", "10001", "-m", "700", "/data"]


class Dockerfile(NamedTuple):
    """The instructions of a Dockerfile that the tests follow."""

    steps: list[tuple[str, list[str]]]
    """Each COPY and RUN with its words, in order."""
    start: list[str]
    health: list[str]
    user: str


def read_dockerfile() -> Dockerfile:
    """Return the instructions of the project's Dockerfile."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    steps: list[tuple[str, list[str]]] = []
    for name, rest in re.findall(r"^(COPY|RUN) (.+)$", text, re.M):
        steps.append((name, rest.split() if name == "COPY" else json.loads(rest)))
    found = {name: re.findall(rf"^{name} (.+)$", text, re.M) for name in ("CMD", "USER")}
    (start,), (user,) = found["CMD"], found["USER"]
    (health,) = re.findall(r"^HEALTHCHECK .* CMD (\[.+\])$", text, re.M)
    return Dockerfile(steps, json.loads(start), json.loads(health), user)


def build_image(folder: Path) -> Path:
    """Follow the Dockerfile's COPY and RUN in a new folder, make it read-only, and return it."""
    app = folder / "app"
    app.mkdir()
    (app / ".venv").symlink_to((ROOT / ".venv").resolve())
    for name, words in read_dockerfile().steps:
        if name == "COPY":
            _copy(words[:-1], app, words[-1])
        elif words not in (INSTALL, MAKE_DATA):
            done = subprocess.run(
                words, cwd=app, env=bare_environment(), capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
    for path in [app, *app.rglob("*")]:
        if not path.is_symlink() and ".venv" not in path.relative_to(app).parts:
            path.chmod(path.stat().st_mode & ~0o222)
    return app


def bare_environment(**variables: str) -> dict[str, str]:
    """Return the few variables that a container has, and those given."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables}


def without_privileges(command: list[str]) -> list[str]:
    """Return a command that cannot write read-only files, even if the tests run as root."""
    if os.geteuid():
        return command
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-all", *command]


def files_in(app: Path) -> dict[str, tuple[int, int]]:
    """Return the size and modification time of each file, leaving out the environment."""
    paths = (path for path in app.rglob("*") if path.is_file())
    stats = {path.relative_to(app).as_posix(): path.stat() for path in paths}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def _copy(sources: list[str], app: Path, target: str) -> None:
    """Copy files of the checkout as COPY does: a folder's content, or files into a folder."""
    for source in sources:
        path = ROOT / source
        if path.is_dir():
            caches = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, app / target, ignore=caches, dirs_exist_ok=True)
        else:
            assert target.endswith("/"), f"COPY {source} {target}: expected a folder"
            (app / target).mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, app / target)
