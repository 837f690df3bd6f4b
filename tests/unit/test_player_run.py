"""What a browser reports of the player is a step of the run, or is not heard."""

from __future__ import annotations

import json
import math

import pytest

from ui.merge_loop.player_run import step_of


@pytest.mark.parametrize(
    ("value", "step"),
    [
        *(("0", 0), ("9", 9), ("7.0", 7), ("10", None), ("-1", None), ("-0.5", None)),
        *(("1e999", None), ("-1e999", None), ("NaN", None), ("null", None), ('"7"', None)),
        ("[7]", None),
    ],
)
def test_a_step_is_held_to_the_run(value: str, step: int | None) -> None:
    assert step_of(json.loads(value), 9) == step


def test_a_run_without_merges_has_one_step() -> None:
    assert step_of(0, 0) == 0
    assert step_of(math.nextafter(0, 1), 0) is None
