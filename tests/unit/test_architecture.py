"""The picture of the packages and the paths in docs/architecture.md are those of today's code."""

from __future__ import annotations

import re

from scripts.draw_architecture import PICTURE, packages, shortest
from tests.unit.test_imports import HOUSES, ROOT

TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")


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
    named = {path.partition("NAME")[0] for path in re.findall(r"`([\w./]+(?:\.py|/))`", TEXT)}
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_function_that_leads_to_another_by_two_ways_is_drawn_once() -> None:
    below = {"a": {"b", "c", "d"}, "b": {"d"}, "c": {"d"}, "d": set[str]()}
    assert shortest(below) == {"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set[str]()}
