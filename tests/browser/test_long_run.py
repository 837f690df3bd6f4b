"""A run of 50,000 merges is sent once, and distant merges when the cursor goes there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import Page, WebSocket, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import bpe_core as bpe
from tests.browser.conftest import KeepRun, ShowFigures
from tests.browser.helpers import go_to_address, wait_until_idle
from tests.browser.player import Player

RUN_ID = "50000".rjust(32, "a")
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
FAR_STEPS = (25_000, 49_999, 12_345)


@pytest.fixture(scope="module")
def run() -> bpe.TrainingRun:
    draw = np.random.default_rng(0)
    words = {
        "".join(draw.choice(LETTERS, size=draw.integers(4, 9))): 1 + 50_000 // rank
        for rank in range(1, 26_001)
    }
    config = bpe.TrainingConfig(
        50_026, pretokenizer="none", base="characters", special_tokens=(), min_frequency=1
    )
    return bpe.train(bpe.Corpus.from_word_counts(words), config)


@pytest.fixture(scope="module")
def address(run: bpe.TrainingRun, keep_run: KeepRun) -> str:
    keep_run(RUN_ID, "Generated words", run)
    return f"/merge_loop?run={RUN_ID}&step=0"


def expect_traced(player: Player, run: bpe.TrainingRun, step: int) -> None:
    """Wait for the merges around a step, and compare the race with the core."""
    player.expect_step(step)
    expect(player.page.locator(".player:not(.fetching) .because")).to_contain_text("occur")
    assert player.race() == [tuple(pair) for pair in run.top_pairs(step, 10)]


@dataclass(slots=True)
class Sent:
    """The messages that the server has sent to the player, including repeated ones."""

    runs: list[str] = field(default_factory=list)
    merges: list[tuple[int, int]] = field(default_factory=list)

    def listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self._hear(frame))

    def _hear(self, frame: str | bytes) -> None:
        assert isinstance(frame, bytes)
        message = ForwardMsg()
        message.ParseFromString(frame)
        content = message.delta.new_element.bidi_component.bytes
        if len(content) < 4:
            return
        header = json.loads(content[4 : 4 + int.from_bytes(content[:4], "little")])
        if "tokens" in header:
            self.runs.append(header["player"])
        else:
            self.merges.append((header["start"], header["stop"]))


def test_distant_merges_are_fetched_and_nothing_is_sent_twice(
    page: Page, app_url: str, address: str, run: bpe.TrainingRun
) -> None:
    sent = Sent()
    page.on("websocket", lambda socket: sent.listen(socket))
    player = Player.open(page, app_url + address)
    expect_traced(player, run, 0)
    wait_until_idle(page)
    assert len(set(sent.runs)) == 1
    first = set(sent.merges)  # the page may be drawn twice until it knows the visitor's theme
    sent.runs.clear()
    sent.merges.clear()
    for step in (*FAR_STEPS, 25_001, 0):
        player.go_to(f"{step + 1:,}")
        expect_traced(player, run, step)
        assert player.ringed()
        page.wait_for_url(re.compile(rf"step={step}\b" if step else "merge_loop"))
    player.choose("8")
    player.press("play")  # across the borders of blocks
    player.expect_playing(True)
    player.press("play")
    player.go_to("25,001")
    page.wait_for_url("**step=25000*")
    wait_until_idle(page)
    assert sent.runs == []
    at = sorted([*first, *sent.merges])
    assert len(at) > len(FAR_STEPS)
    for (_, stop), (start, _) in pairwise(at):
        assert stop <= start, f"merges {start} to {stop} came twice"
    n_sent = sum(stop - start for start, stop in at)
    assert n_sent < len(run.merges) / 2  # merges that were never shown are not sent


def test_full_speed_draws_many_merges_per_frame_waits_for_merges_and_ends(
    tab: Page, address: str, run: bpe.TrainingRun, show_figures: ShowFigures
) -> None:
    go_to_address(tab, address)
    player = Player(tab)
    player.expect_step(0)
    times = [player.time_scrub(step) for step in (32_500, 25_500, 44_500)]
    show_figures("milliseconds to a far step of 50,000 merges", times)
    player.press("first")
    player.expect_step(0)
    player.choose("frequent")
    player.choose("max")
    counted = player.count_while_playing(n_sentences=12)
    assert counted["animations"] == 0
    assert counted["merges"] > 2 * counted["frames"]
    assert counted["least_between_sentences"] >= 80  # ms: about ten a second, rounded to frames
    player.expect_playing(False)
    step = int(tab.locator(".player .position b").inner_text().replace(",", ""))
    player.expect_sentence(f"Next, merge {step + 1:,}")
    expect_traced(player, run, step)
    player.go_to("47,001")
    player.expect_step(47_000)
    player.press("play")
    player.expect_step(50_000)
    player.expect_playing(False)
    player.expect_sentence("All 50,000 merges are done")
