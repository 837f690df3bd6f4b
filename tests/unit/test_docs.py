"""The documentation names every public thing, links right, and agrees with the glossary."""

from __future__ import annotations

import doctest
import re
import tomllib
from importlib import import_module

import pytest

import bpe_core
from scripts.draw_architecture import PICTURE, packages, shortest
from scripts.measure_install import BEGIN, DOCUMENT, END
from scripts.measure_trainers import TRAINERS
from tests.new_process import ROOT
from tests.unit.test_imports import HOUSES
from ui.look import tooltip
from ui.look.labels import GLOSSARY

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


# Installation


TEXT = DOCUMENT.read_text("utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def test_every_extra_is_explained_and_measured() -> None:
    assert re.findall(r"(?m)^\| `([a-z]+)` \|", TEXT) == list(EXTRAS)
    table = TEXT[TEXT.index(BEGIN) : TEXT.index(END)]
    measured = re.findall(r"(?m)^\| `bpe-explorer\[([a-z]+)\]` \| \d+ \| [\d,]+ \|", table)
    assert measured == list(EXTRAS)
    assert re.search(r"(?m)^\| `bpe-explorer` \| 4 \| \d+ \|", table)
    assert re.findall(r"(?m)^\| (\w+) kernels \| \d+ ms \|", table) == ["with", "without"]


# The glossary: one definition of each term, the same in the tooltips and in the docs


def test_the_docs_hold_the_same_definitions() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)\n\n((?:.+\n)+)", text, flags=re.MULTILINE)
    documented = {term: " ".join(body.split()) for term, body in sections}
    assert documented == {
        term: body.replace("<|endoftext|>", "`<|endoftext|>`") for term, body in GLOSSARY.items()
    }
    assert list(documented) == list(GLOSSARY)


def test_several_terms_are_explained_in_paragraphs() -> None:
    assert tooltip("Merge", "Tie") == f"{GLOSSARY['Merge']}\n\n{GLOSSARY['Tie']}"


def test_the_measured_trainers_are_those_that_the_script_prints() -> None:
    text = (ROOT / "docs" / "trainers.md").read_text("utf-8").partition("## Measured")[2]
    names = re.findall(r"(?m)^\| (.+?) \| [\d.]+ s \|", text)
    assert sorted(names) == sorted(TRAINERS)
    modules = {module for _, own in TRAINERS.values() for module in own}
    assert all((ROOT / "bpe_core" / "trainers" / f"{module}.py").exists() for module in modules)


# The picture of the packages and the paths in docs/architecture.md


def test_the_drawn_arrows_are_the_imports_between_packages() -> None:
    drawn = re.findall(r'data-from="(.+?)" data-to="(.+?)"', PICTURE.read_text("utf-8"))
    expected = [
        (above, below)
        for house in HOUSES
        for above, all_below in shortest(packages(house)).items()
        for below in all_below
    ]
    assert sorted(drawn) == sorted(expected), "run: python -m scripts.draw_architecture"


def test_the_paths_that_the_page_names_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = {path.partition("NAME")[0] for path in re.findall(r"`([\w./]+(?:\.py|/))`", text)}
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_function_that_leads_to_another_by_two_ways_is_drawn_once() -> None:
    below = {"a": {"b", "c", "d"}, "b": {"d"}, "c": {"d"}, "d": set[str]()}
    assert shortest(below) == {"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set[str]()}
