"""Project files agree with the code: documents, workflows, releases and requirements."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
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
from tests.packaging import NAME, copy_source

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
    named = re.findall(r"`((?:\.ci|bpe_core|docs|pages|scripts|tests|ui)/[\w./-]+)`", text)
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


NAMES = sorted(path.stem for path in (ROOT / "requirements").glob("*.in"))


def named(name: str) -> set[str]:
    """Return the names in a file of requirements/, and in those that it includes."""
    lines = (ROOT / "requirements" / f"{name}.in").read_text("utf-8").splitlines()
    found = {Requirement(line).name for line in lines if line and line[0] not in "#-"}
    included = [line.removeprefix("-r ").removesuffix(".in") for line in lines if line[:2] == "-r"]
    return found.union(*map(named, included))


def pins(name: str) -> dict[str, tuple[Version, list[str]]]:
    """Return the version and the hashes of each package in the file made from requirements/."""
    file = "requirements.txt" if name == "main" else f"requirements-{name}.txt"
    text = (ROOT / file).read_text("utf-8")
    assert "://" not in text, "the place of an index"
    pinned = re.findall(r"(?m)^([a-z0-9-]+)==([^\s;]+)((?:[^\n]*\\\n)(?:    --hash=.+\n)+)", text)
    assert len(pinned) == len(re.findall("(?m)^[a-z]", text))
    return {
        package: (Version(version), re.findall("sha256:([0-9a-f]{64})", rest))
        for package, version, rest in pinned
    }


@pytest.mark.parametrize("name", NAMES)
def test_what_is_named_is_pinned_with_hashes(name: str) -> None:
    pinned = pins(name)
    assert named(name) <= pinned.keys()
    assert all(hashes for _, hashes in pinned.values())


@pytest.mark.parametrize("name", [each for each in NAMES if each != "main"])
def test_each_package_has_one_version_everywhere(name: str) -> None:
    main, other = pins("main"), pins(name)
    assert not [each for each in main.keys() & other.keys() if main[each] != other[each]]


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
