"""Every requirement is named once, and pinned with hashes within the range that users may have."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from scripts.check_kernel_versions import allowed_versions
from tests.new_process import ROOT
from tests.packaging import NAME

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
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
