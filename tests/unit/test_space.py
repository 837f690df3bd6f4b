"""The folder of a Space on Hugging Face has what its Dockerfile copies, and valid settings."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.new_process import ROOT

# What Spaces require: https://huggingface.co/docs/hub/spaces-sdks-docker
USER_ID = "1000"
MAX_FILE_BYTES = 10_000_000


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("space")
    subprocess.run([ROOT / "scripts" / "make_space.sh", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def instructions(space: Path) -> list[tuple[str, str]]:
    text = (space / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    return re.findall(r"^([A-Z]+) (.+)$", text, re.M)


def test_what_is_copied_and_run_is_in_the_folder(
    space: Path, instructions: list[tuple[str, str]]
) -> None:
    copied: list[str] = []
    for name, rest in instructions:
        if name == "COPY":
            owner, *sources, _ = rest.split()
            assert owner == "--chown=user"
            assert all((space / source).exists() for source in sources)
            copied += sources
        elif name in ("RUN", "CMD") and (program := json.loads(rest)[0]) != "useradd":
            assert os.access(space / program, os.X_OK)
            assert any(Path(program).is_relative_to(source) for source in copied)
    assert len(copied) > 9


def test_every_file_is_small_enough_for_a_space(space: Path) -> None:
    sizes = [path.stat().st_size for path in space.rglob("*") if path.is_file()]
    assert len(sizes) > 400
    assert max(sizes) < MAX_FILE_BYTES


def test_files_that_are_not_text_are_stored_by_git_lfs(space: Path) -> None:
    names = [
        path.name for path in space.rglob("*") if path.is_file() and b"\0" in path.read_bytes()
    ]
    assert names
    subprocess.run(["git", "init", "-q"], cwd=space, check=True)
    command = ["git", "check-attr", "filter", *names]
    done = subprocess.run(command, cwd=space, capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if not line.endswith(": lfs")] == []


def test_the_front_matter_names_the_port_and_the_user_is_the_required_one(
    space: Path, instructions: list[tuple[str, str]]
) -> None:
    _, matter, _ = (space / "README.md").read_text("utf-8").split("---\n", 2)
    settings = yaml.safe_load(matter)
    assert settings["sdk"] == "docker"
    found = dict(instructions)
    assert found["EXPOSE"] == str(settings["app_port"])
    assert f"PORT={settings['app_port']}" in found["ENV"].split()
    (added,) = (json.loads(rest) for name, rest in instructions if "useradd" in rest)
    assert added[-3:] == ["--uid", USER_ID, found["USER"]]


def test_the_checkout_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "make_space.sh", tmp_path / "scripts")
    command = [tmp_path / "scripts" / "make_space.sh", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the checkout itself" in done.stderr
