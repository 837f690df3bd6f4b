"""The documentation names every public thing, and the pictures are fit for it."""

from __future__ import annotations

import doctest
import re
from importlib import import_module

import pytest

import bpe_core
from tests.new_process import ROOT

REGISTRIES = re.compile(r"https?://[\w.]*(pypi\.org|pythonhosted\.org|npmjs\.(com|org))")


def test_the_reference_has_exactly_the_public_names() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert sorted(re.findall(r"(?m)^::: bpe_core\.(\w+)$", page)) == sorted(bpe_core.__all__)


@pytest.mark.parametrize("name", ["docs_commands", "docs_docstrings", "docs_hooks"])
def test_what_builds_the_documentation_does_as_its_examples_show(name: str) -> None:
    failed, attempted = doctest.testmod(import_module(f"scripts.{name}"))
    assert (failed, attempted > 0) == (0, True)


def test_no_page_links_to_a_package_registry() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    assert len(pages) > 20
    assert [page.name for page in pages if REGISTRIES.search(page.read_text("utf-8"))] == []


def test_the_readme_can_be_read_in_a_minute() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120
