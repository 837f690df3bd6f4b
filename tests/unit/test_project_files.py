"""Project files agree with the code: the changelog, rules, security notes and the CI workflow."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import bpe_core
from bpe_core.formats.folder_files import MAX_BYTES
from tests.new_process import ROOT
from tests.packaging import copy_source

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
    least = tomllib.loads(read("pyproject.toml"))["project"]["requires-python"]
    assert least == f">={python['python-version']}"


def test_the_citation_agrees_with_the_package() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == bpe_core.__version__
    assert " AND ".join(citation["license"]) == project["license"]
    assert citation["authors"] == project["authors"]


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
