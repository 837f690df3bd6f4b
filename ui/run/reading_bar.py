"""Draw how far the reading of files is, on each page that reads them."""

from __future__ import annotations

import time
from collections.abc import Callable

from streamlit.delta_generator import DeltaGenerator

from ui.work.duration import duration

_SECONDS_BEFORE_BAR = 0.5
_SECONDS_BETWEEN_DRAWINGS = 0.1


def waiting_on(bar: DeltaGenerator) -> Callable[[], object]:
    """Return a function that shows that others' files are read first; a script can stop there."""
    return lambda: bar.progress(0.0, "Waiting for other visitors’ files to be read.")


def progress_on(bar: DeltaGenerator, n_bytes: int) -> Callable[[float], None]:
    """Return a function that draws the progress of a reading that takes longer than a moment.

    Drawing also lets the visitor stop it: if they have removed a file or used another widget,
    Streamlit stops the script there and runs the page again.
    """
    started = drawn_at = time.monotonic()

    def draw(part: float) -> None:
        nonlocal drawn_at
        now = time.monotonic()
        seconds = now - started
        if not part or seconds < _SECONDS_BEFORE_BAR or now - drawn_at < _SECONDS_BETWEEN_DRAWINGS:
            return
        drawn_at = now
        megabytes = n_bytes / 1e6
        bar.progress(
            min(1.0, part),
            f"Reading {part * megabytes:,.0f} of {megabytes:,.0f} MB, "
            f"{part * megabytes / seconds:,.0f} MB a second, "
            f"{duration(seconds * (1 - part) / part)} left. To stop, remove the file.",
        )

    return draw
