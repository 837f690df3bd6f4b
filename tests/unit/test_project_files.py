"""Project files agree with the code: documents, workflows, releases and requirements."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import bpe_core
from bpe_core.formats.folder_files import MAX_BYTES
from scripts.check_versions import allowed_versions
from tests.new_process import ROOT
from tests.packaging import NAME, copy_source, pip_command

DOCUMENTS = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "NOTICE.md",
    "README.md",
    "SECURITY.md",
    "docs/bpe.md",
    "docs/exactness.md",
    "docs/how-it-is-checked.md",
)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
BINARY = (".bin", ".gz", ".npy", ".npz", ".png", ".webp")


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_workflow_runs_every_required_check() -> None:
    # YAML reads the key `on` as true.
    workflow: dict[Any, Any] = yaml.safe_load(read(".github/workflows/ci.yml"))
    assert {"push", "pull_request"} <= workflow[True].keys()
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "make test" in read(".ci/run")
    (python,) = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    least = PROJECT["requires-python"]
    assert least == f">={python['python-version']}"


def test_the_citation_agrees_with_the_package() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == bpe_core.__version__
    assert " AND ".join(citation["license"]) == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_the_changelog_starts_with_unreleased_changes() -> None:
    headings = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.M)
    assert headings[0] == "[Unreleased]"
    assert bpe_core.__version__ in read("CHANGELOG.md")
    kinds = set(re.findall(r"^### (.+)$", read("CHANGELOG.md"), re.M))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_and_make_targets_named_in_documents_exist(document: str) -> None:
    text = read(document)
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.M))
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.M)) <= targets
    folders = r"\.ci|bpe_core|bpe_scale|docs|pages|scripts|tests|ui"
    named = re.findall(rf"`((?:{folders})/[\w./-]+)`", text)
    assert not [path for path in named if not (ROOT / path).exists()]


def test_no_test_can_be_skipped() -> None:
    skips = re.compile(r"pytest\.(?:importorskip|skip|xfail)|mark\.(?:skip|xfail)")
    tests = [*(ROOT / "tests").rglob("*.py")]
    assert len(tests) > 200
    assert [path.name for path in tests if skips.search(path.read_text("utf-8"))] == []


def test_the_limits_in_the_security_notes_equal_those_in_the_code() -> None:
    notes = read("SECURITY.md")
    config = tomllib.loads(read(".streamlit/config.toml"))
    assert f"limited to {config['server']['maxUploadSize']} MB" in notes
    assert config["server"]["maxUploadSize"] * 1024 * 1024 > MAX_BYTES
    assert config["server"]["address"] in notes


def test_source_files_are_utf8_with_unix_line_endings(tmp_path: Path) -> None:
    source = copy_source(tmp_path)
    paths = [path for path in source.rglob("*") if path.is_file() and path.suffix not in BINARY]
    paths = [path for path in paths if "data" not in path.parts]  # generated files
    assert len(paths) > 400
    for path in paths:
        data = path.read_bytes()
        data.decode()
        name = path.relative_to(source)
        assert b"\r\n" not in data, name
        assert data.endswith(b"\n") or not data, name
        assert not re.search(rb"[ \t]\n", data), name


# The tools that check browser code have one version, wherever they are downloaded from


def test_each_tool_has_one_version() -> None:
    wanted = json.loads((ROOT / "package.json").read_text("utf-8"))
    locked = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    assert "dependencies" not in wanted
    for name, version in wanted["devDependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
        assert locked[f"node_modules/{name}"]["version"] == version


def test_the_lock_file_has_hashes_and_no_download_addresses() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    fetched = {name: package for name, package in packages.items() if name}
    assert len(fetched) > 50
    for name, package in fetched.items():
        assert package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name


# Releases: scripts that are here, on every system and Python that is supported


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASE: dict[str, Any] = yaml.safe_load(read(".github/workflows/release.yml"))
JOBS: dict[str, Any] = RELEASE["jobs"]


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
    named = [line for line in PROJECT["classifiers"] if line.startswith(prefix)]
    tried = JOBS["try"]["strategy"]["matrix"]["python"]
    assert tried == [line.split()[-1] for line in named]
    assert PROJECT["requires-python"] == f">={tried[0]}"
    builds = [f"cp{version.replace('.', '')}-*" for version in tried]
    assert PYPROJECT["tool"]["cibuildwheel"]["build"] == builds


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


# Requirements: named once, and pinned with hashes within the range that users may have


REQUIREMENTS = ROOT / "requirements"
APP = ROOT / "requirements.txt"
SOURCES = {"run": APP, **{path.stem: path for path in sorted(REQUIREMENTS.glob("*.in"))}}


def named(name: str) -> set[str]:
    """Return the names that a file of requirements/ pins, with those of the files it includes."""
    lines = SOURCES[name].read_text("utf-8").splitlines()
    found = {Requirement(line).name for line in lines if line and line[0] not in "#-"}
    return found | named("run") if f"-r ../{APP.name}" in lines else found


def pins(name: str) -> dict[str, tuple[Version, list[str]]]:
    """Return the version and the hashes of each package in a file of requirements/."""
    text = (REQUIREMENTS / f"{name}.txt").read_text("utf-8")
    assert "://" not in text, "the place of an index"
    pinned = re.findall(r"(?m)^([a-z0-9-]+)==([^\s;]+)((?:[^\n]*\\\n)(?:    --hash=.+\n)+)", text)
    assert len(pinned) == len(re.findall("(?m)^[a-z]", text))
    return {
        package: (Version(version), re.findall("sha256:([0-9a-f]{64})", rest))
        for package, version, rest in pinned
    }


def test_a_person_reads_what_the_app_needs_and_pip_what_is_pinned(tmp_path: Path) -> None:
    lines = [line for line in APP.read_text("utf-8").splitlines() if line and line[0] != "#"]
    # Pip takes the hashes of a package from the first line that names it.
    assert lines[0] == "-r requirements/run.txt"
    assert {"streamlit", "plotly", "pandas", "regex"} <= set(lines)
    assert sorted(named("run")) == sorted(lines[1:])
    (wheel,) = build_empty_wheel(tmp_path / "some")
    install = [*pip_command(), "install", "--dry-run", "--no-index", "--no-deps"]
    install += ["--target", tmp_path / "target", "--find-links", tmp_path / "some"]
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements.txt").write_text("-r requirements/run.txt\nempty\n")
    digest = sha256(wheel.read_bytes()).hexdigest()
    for hash, is_taken in ((digest, True), ("0" * 64, False)):
        lock = tmp_path / "requirements" / "run.txt"
        lock.write_text(f"empty==1.0 \\\n    --hash=sha256:{hash}\n")
        done = subprocess.run(
            [*install, "-r", tmp_path / "requirements.txt"], capture_output=True, check=False
        )
        assert (done.returncode == 0) is is_taken, done.stderr


def build_empty_wheel(folder: Path) -> list[Path]:
    folder.mkdir()
    metadata = "Metadata-Version: 2.1\nName: empty\nVersion: 1.0\n"
    tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / "empty-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("empty-1.0.dist-info/METADATA", metadata)
        archive.writestr("empty-1.0.dist-info/WHEEL", tag)
        archive.writestr("empty-1.0.dist-info/RECORD", "")
    return [*folder.iterdir()]


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_named_is_pinned_with_hashes(name: str) -> None:
    pinned = pins(name)
    assert named(name) <= pinned.keys()
    assert all(hashes for _, hashes in pinned.values())


@pytest.mark.parametrize("name", [each for each in SOURCES if each != "run"])
def test_each_package_has_one_version_everywhere(name: str) -> None:
    run, other = pins("run"), pins(name)
    assert not [each for each in run.keys() & other.keys() if run[each] != other[each]]


def test_the_command_of_a_checkout_runs_from_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "an environment" / "bin"
    folder.mkdir(parents=True)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    subprocess.run([ROOT / "scripts" / "make_command.sh", folder.parent], check=True)
    done = subprocess.run(
        [folder / "bpe", "encode", "gpt2"],
        input="The quick brown fox",
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout == "464 2068 7586 21831\n"
    for stamp in ("run", "dev"):
        rule = re.search(rf"(?m)^\.venv/{stamp}\.stamp:.*\n((?:\t.+\n)+)", read("Makefile"))
        assert rule is not None
        assert "\tscripts/make_command.sh .venv\n" in rule[1]


def test_every_requirement_of_the_package_is_pinned_within_its_range() -> None:
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    wanted = [Requirement(line) for group in groups for line in group]
    others = [requirement for requirement in wanted if requirement.name != NAME]
    names = {requirement.name for requirement in others}
    assert named("cluster") <= names <= named("dev")
    pinned = pins("dev")
    for requirement in others:
        assert pinned[requirement.name][0] in requirement.specifier, requirement
        assert len(requirement.specifier), requirement


def test_kernels_are_tried_with_the_lowest_versions_of_what_compiles_them() -> None:
    pinned = {Requirement(line) for line in allowed_versions()["the lowest versions"]}
    assert {"numpy", "numba", "msgspec"} <= {requirement.name for requirement in pinned}
    assert all(str(requirement.specifier).startswith("==") for requirement in pinned)
