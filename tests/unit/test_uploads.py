"""The bar of a reading appears once it lasts, and says what is left of it."""

from __future__ import annotations

from typing import cast

import pytest
from streamlit.delta_generator import DeltaGenerator

from ui.train import uploads


class Bar:
    """Takes down what is drawn."""

    def __init__(self) -> None:
        self.drawn: list[tuple[float, str]] = []

    def progress(self, value: float, text: str) -> None:
        self.drawn.append((value, text))


def test_a_reading_that_lasts_says_how_far_how_fast_and_how_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(uploads.time, "monotonic", lambda: clock[-1])
    bar = Bar()
    tell = uploads.tell_on(cast("DeltaGenerator", bar), 112_000_000)
    for now, part in ((100.0, 0.0), (100.3, 0.1), (102.0, 0.25), (102.01, 0.26), (106.0, 0.5)):
        clock.append(now)
        tell(part)
    assert bar.drawn == [
        (
            0.25,
            "Reading 28 of 112 MB, 14 MB a second, 6 s left. To stop it, take the file away.",
        ),
        (
            0.5,
            "Reading 56 of 112 MB, 9 MB a second, 6 s left. To stop it, take the file away.",
        ),
    ]
