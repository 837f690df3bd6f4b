"""The release workflow runs scripts that are here, on every system and Python that is supported."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.new_process import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASE: dict[str, Any] = yaml.safe_load(
    (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
)
JOBS: dict[str, Any] = RELEASE["jobs"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def run_script(name: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [cwd / "scripts" / "release" / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_step_is_a_script_or_one_command() -> None:
    commands = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]
    scripts = [command.split()[0] for command in commands if command.startswith("scripts/")]
    assert len(scripts) >= 5
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)
    others = [command for command in commands if not command.startswith("scripts/")]
    assert not [each for each in others if "\n" in each or not re.match("python -m |gh ", each)]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_named_by_a_commit(workflow: Path) -> None:
    used = re.findall(r"uses: (\S+)@(\S+)(.*)", workflow.read_text("utf-8"))
    assert used
    for _, commit, version in used:
        assert re.fullmatch("[0-9a-f]{40}", commit)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", version)


def test_only_publishing_has_more_than_permission_to_read() -> None:
    assert RELEASE["permissions"] == {"contents": "read"}
    assert [name for name, job in JOBS.items() if "permissions" in job] == ["publish"]
    assert JOBS["publish"]["if"] == "github.ref_type == 'tag'"
    assert JOBS["publish"]["needs"] == "try"
    assert set(JOBS["try"]["needs"]) == {"build", "kernels"}


def test_wheels_are_tried_with_every_python_that_is_named() -> None:
    prefix = "Programming Language :: Python :: 3."
    named = [line for line in PROJECT["project"]["classifiers"] if line.startswith(prefix)]
    tried = JOBS["try"]["strategy"]["matrix"]["python"]
    assert tried == [line.split()[-1] for line in named]
    assert PROJECT["project"]["requires-python"] == f">={tried[0]}"
    builds = [f"cp{version.replace('.', '')}-*" for version in tried]
    assert PROJECT["tool"]["cibuildwheel"]["build"] == builds


def test_wheels_are_tried_wherever_kernels_are_built_and_on_windows() -> None:
    built = JOBS["kernels"]["strategy"]["matrix"]["system"]
    matrix = JOBS["try"]["strategy"]["matrix"]
    assert matrix["system"] == [*built, "windows-2025"]
    every, windows = matrix["include"]
    assert every == {"engine": "--kernels"}
    assert windows == {"system": "windows-2025", "engine": "--python"}


def test_a_tag_must_name_the_version_and_be_in_the_changelog(tmp_path: Path) -> None:
    for name in ("scripts/release/check_tag.sh", "bpe_core/__init__.py", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bpe_core" / "__init__.py").write_text('__version__ = "9.8.7"\n')
    assert "bpe_core/__init__.py has" in run_script("check_tag.sh", "v9.8.6", cwd=tmp_path).stderr
    assert "no section for 9.8.7" in run_script("check_tag.sh", "v9.8.7", cwd=tmp_path).stderr
    with (tmp_path / "CHANGELOG.md").open("a") as changelog:
        changelog.write("## [9.8.7]\n")
    assert run_script("check_tag.sh", "v9.8.7", cwd=tmp_path).returncode == 0
