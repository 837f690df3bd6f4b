"""A step that the browser's player reports is used only if the run has it."""

from __future__ import annotations

import json
import math

import pytest

from ui.merge_loop.player_run import reported_step


@pytest.mark.parametrize(
    ("report", "step"),
    [
        ("0", 0),
        ("9", 9),
        ("7.0", 7),
        ("10", None),
        ("-1", None),
        ("-0.5", None),
        ("1e999", None),
        ("-1e999", None),
        ("NaN", None),
        ("null", None),
        ('"7"', None),
        ("[7]", None),
    ],
)
def test_a_step_is_kept_within_the_run(report: str, step: int | None) -> None:
    assert reported_step(json.loads(report), 9) == step


def test_a_run_without_merges_has_one_step() -> None:
    assert reported_step(0, 0) == 0
    assert reported_step(math.nextafter(0, 1), 0) is None
