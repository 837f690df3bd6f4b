"""The bar for reading uploads shows at once what is read if it is much, and then how far."""

from __future__ import annotations

import io
from typing import cast

import pytest
from streamlit.delta_generator import DeltaGenerator

from ui.work import reading


class Place:
    """A stand-in for a place on the page that records what is drawn there."""

    def __init__(self) -> None:
        self.drawn: list[tuple[float, str] | str] = []

    def progress(self, value: float, text: str) -> None:
        self.drawn.append((value, text))

    def empty(self) -> None:
        self.drawn.append("empty")


class File(io.BytesIO):
    """An uploaded file of a size that is not there."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__()
        self.name, self.size = name, size


def bar_of(*files: File) -> tuple[reading.ReadingBar, Place]:
    place = Place()
    return reading.ReadingBar(cast("DeltaGenerator", place), list(files)), place


def test_reading_a_large_file_shows_its_name_progress_speed_and_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(reading.time, "monotonic", lambda: clock[-1])
    bar, place = bar_of(File("a*b.txt", 112_000_000))
    bar.announce()
    for now, part in ((100.0, 0.0), (100.3, 0.1), (102.0, 0.25), (102.01, 0.26), (106.0, 0.5)):
        clock.append(now)
        bar.progress(part)
    bar.close()
    stop = "To stop, remove the file."
    assert place.drawn == [
        (0.0, "Reading a\\*b\\.txt, 112 MB."),
        (0.25, f"Reading a\\*b\\.txt: 28 of 112 MB, 14 MB a second, 6 s left. {stop}"),
        (0.5, f"Reading a\\*b\\.txt: 56 of 112 MB, 9 MB a second, 6 s left. {stop}"),
        "empty",
    ]


def test_reading_small_files_draws_nothing_and_several_are_counted() -> None:
    bar, place = bar_of(File("a.txt", 500), File("b.txt", 500))
    bar.announce()
    bar.close()
    assert place.drawn == []
    bar, place = bar_of(*(File(f"{n}.txt", 3_000_000) for n in range(3)))
    bar.announce()
    bar.wait()
    assert place.drawn == [
        (0.0, "Reading 3 files, 9.0 MB."),
        (0.0, "Waiting for other visitors’ files to be read before 3 files."),
    ]
