"""How smoothly the sample run plays and scrubs: the figures are printed, the bounds are loose."""

from __future__ import annotations

import statistics

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK
from tests.browser.player import Player

pytestmark = pytest.mark.browser

FRAME_MS = 17
SCRUB_MS = 100


@pytest.mark.parametrize("speed", ["1", "2"])
def test_most_frames_come_in_time_while_merges_play(
    page: Page, app_url: str, speed: str, show_figures: ShowFigures
) -> None:
    player = Player.open(page, f"{app_url}/merge_loop?step=300")
    player.choose(speed)
    medians: list[float] = []
    for _ in range(3):
        frames = player.frames_while_playing(160)
        show_figures(f"milliseconds a frame at {speed}x", frames)
        medians.append(statistics.median(frames))
    assert min(medians) <= SLACK * FRAME_MS


def test_a_scrub_is_drawn_at_once(page: Page, app_url: str, show_figures: ShowFigures) -> None:
    player = Player.open(page, f"{app_url}/merge_loop?step=0")
    player.time_of_scrub(2_000)  # the rest of the run comes behind the merges at the cursor
    steps = (3_800, 10, 1_900, 700, 2_500, 3_100, 45)
    times = [player.time_of_scrub(step) for step in steps]
    show_figures("milliseconds a scrub in a run of 3,839 merges", times)
    assert min(times) <= SLACK * SCRUB_MS
