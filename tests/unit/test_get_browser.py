"""The script that finds a browser skips those that don't start, and reports what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "get_browser.sh"
STARTS = "exit 0"
LACKS_A_LIBRARY = "echo 'libnss3.so: cannot open shared object file' >&2; exit 127"


def write_program(path: Path, commands: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{commands}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy the script to a separate folder, on a path without a package manager."""
    project = tmp_path / "project"
    (project / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, project / "scripts")
    for name in ("bash", "dirname", "grep", "head", "id", "ldd"):
        program = shutil.which(name)
        assert program is not None
        (project / "bin").mkdir(exist_ok=True)
        (project / "bin" / name).symlink_to(program)
    return project


def download_gives(project: Path, browser: Path) -> None:
    """Replace playwright's download, which isn't tested here, with one that provides a browser."""
    commands = f'if [ "$1" = -c ]; then echo "{browser}"; fi'
    write_program(project / ".venv" / "bin" / "python", commands)


def get_browser(project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [project / "scripts" / "get_browser.sh"],
        env={"PATH": str(project / "bin"), "HOME": os.environ.get("HOME", "/"), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def recorded(project: Path) -> str | None:
    record = project / ".venv" / "browser-path"
    return record.read_text(encoding="utf-8").strip() if record.exists() else None


def test_the_headless_shell_is_preferred_to_a_full_browser(project: Path) -> None:
    download_gives(project, project / "nothing")
    write_program(project / "bin" / "chromium", STARTS)
    shell = write_program(project / "bin" / "chromium-headless-shell", STARTS)
    assert get_browser(project).returncode == 0
    assert recorded(project) == str(shell)


@pytest.mark.parametrize("has_fonts", [True, False])
def test_fonts_are_installed_where_only_a_browser_is(project: Path, has_fonts: bool) -> None:
    download_gives(project, project / "nothing")
    write_program(project / "bin" / "chromium", STARTS)
    (project / "bin" / "id").unlink()
    write_program(project / "bin" / "id", "echo 0")
    write_program(project / "bin" / "fc-list", "echo Noto" if has_fonts else "exit 0")
    asked = project / "asked"
    write_program(project / "bin" / "apt-get", f'echo "$*" >> {asked}')
    assert get_browser(project).returncode == 0
    assert asked.exists() != has_fonts
    assert has_fonts or "fonts-noto-core" in asked.read_text(encoding="utf-8")


def test_a_browser_on_the_path_that_does_not_start_is_skipped(project: Path) -> None:
    write_program(project / "bin" / "chromium", LACKS_A_LIBRARY)
    downloaded = write_program(project / "downloaded" / "chrome", STARTS)
    download_gives(project, downloaded)
    assert get_browser(project).returncode == 0
    assert recorded(project) == str(downloaded)


def test_a_download_that_lacks_libraries_is_refused_with_instructions(project: Path) -> None:
    download_gives(project, write_program(project / "downloaded" / "chrome", LACKS_A_LIBRARY))
    done = get_browser(project)
    assert done.returncode == 1
    assert "libnss3.so" in done.stderr
    assert "playwright install-deps chromium" in done.stderr
    assert recorded(project) is None
