"""The progress bar for reading an upload appears after a moment, and shows the time left."""

from __future__ import annotations

from typing import cast

import pytest
from streamlit.delta_generator import DeltaGenerator

from ui.work import reading


class Bar:
    """A stand-in for a progress bar that records its drawings."""

    def __init__(self) -> None:
        self.drawn: list[tuple[float, str]] = []

    def progress(self, value: float, text: str) -> None:
        self.drawn.append((value, text))


def test_reading_a_large_file_shows_progress_speed_and_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(reading.time, "monotonic", lambda: clock[-1])
    bar = Bar()
    draw = reading.progress_on(cast("DeltaGenerator", bar), 112_000_000)
    for now, part in ((100.0, 0.0), (100.3, 0.1), (102.0, 0.25), (102.01, 0.26), (106.0, 0.5)):
        clock.append(now)
        draw(part)
    assert bar.drawn == [
        (
            0.25,
            "Reading 28 of 112 MB, 14 MB a second, 6 s left. To stop, remove the file.",
        ),
        (
            0.5,
            "Reading 56 of 112 MB, 9 MB a second, 6 s left. To stop, remove the file.",
        ),
    ]
