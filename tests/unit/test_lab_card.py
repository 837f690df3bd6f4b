"""Test the text on the Lab's card while a measurement waits or runs."""

from __future__ import annotations

import pytest

from bpe_core.lab.measuring import LabProgress
from ui.lab.measurements import MeasurementStatus
from ui.lab.sections import how_far
from ui.work.task import State, Status


def status(
    progress: LabProgress | None,
    *,
    since_told: float = 0.0,
    state: State = "running",
    ahead: int = 0,
) -> MeasurementStatus:
    # Not MeasurementStatus(): a generic dataclass with slots can't store its type arguments.
    return Status(
        id="x",
        about="",
        state=state,
        n_ahead=ahead,
        progress=progress,
        is_stopping=False,
        elapsed_seconds=100.0,
        seconds_since_report=since_told,
        result=None,
        problem=None,
    )


@pytest.mark.parametrize(
    ("progress", "since_told", "text"),
    [
        (LabProgress(3, 48, "trie"), 0, "Step 3 of 48, time left unknown."),
        (LabProgress(12, 48, "trie", 11.6), 0, "Step 12 of 48, about 12 s left."),
        (LabProgress(12, 48, "trie", 11.6), 3.1, "Step 12 of 48, about 8 s left."),
        (LabProgress(47, 48, "trie", 0.2), 0, "Step 47 of 48, nearly done."),
        (LabProgress(47, 48, "trie", 2.0), 2.5, "Step 47 of 48, nearly done."),
        (LabProgress(7, 48, "trie", 2.0), 9, "Step 7 of 48, longer than estimated."),
    ],
)
def test_the_time_left_counts_down_from_the_last_estimate(
    progress: LabProgress, since_told: float, text: str
) -> None:
    assert (
        how_far(status(progress, since_told=since_told)) == f"{text} Now: Trie with backtracking."
    )


def test_the_card_describes_the_wait_before_the_first_step() -> None:
    assert (
        how_far(status(None, state="queued", ahead=1)) == "Waiting: 1 measurement before this one."
    )
    assert how_far(status(None)) == "Starting the measuring process."
    compiling = LabProgress(0, 1, "", seconds_compiling=4.2)
    assert how_far(status(compiling)).endswith("4 s so far.")
    assert how_far(status(LabProgress(48, 48, "", 0.0))) == "Step 48 of 48, nearly done."
