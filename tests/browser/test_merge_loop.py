"""The Merge loop page in a browser: it matches the core, keeps its place, and plays smoothly."""

from __future__ import annotations

import statistics

import pytest
from playwright.sync_api import Page, expect

from bpe_core.trainers import TrainingRun, encode_reference, split_symbols
from bpe_core.trainers.trace import CLOSE_RACE
from tests.browser.conftest import ShowFigures
from tests.browser.helpers import SLACK, go_to_address, wait_until_idle
from tests.browser.player import Player
from ui.storage import SAMPLE_RUN_ID, load_run

STEPS = (0, 300, 3_839)
FRAME_MS = 17
SCRUB_MS = 100
HEIGHT = "(root) => root.getBoundingClientRect().height"


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    return load_run(SAMPLE_RUN_ID).run


def open_player(tab: Page, query: str = "") -> Player:
    go_to_address(tab, f"/merge_loop?{query}")
    expect(tab.locator(".player .position b")).not_to_be_empty()
    return Player(tab)


def symbols_before(run: TrainingRun, word: bytes, step: int) -> list[int]:
    """Return a word as it stood before a merge, computed by the reference."""
    merges = {merge.pair: merge for merge in run.merges[:step]}
    base_ids = run.tokenizer.base_ids
    base = [base_ids[symbol] for symbol in split_symbols(word, run.tokenizer.base)]
    return encode_reference(base, merges)


def test_the_sample_opens_at_a_close_race_and_every_step_matches_the_core_at_one_height(
    tab: Page, run: TrainingRun
) -> None:
    player = open_player(tab)
    player.expect_step(run.opening_step)
    player.expect_merges()
    # The first two pairs are close enough for a visible race.
    (_, _, winner), (_, _, runner_up), *_ = player.race()
    assert winner >= runner_up >= CLOSE_RACE * winner
    expect(tab.locator(".player .race-note")).to_contain_text("The run opens here")

    player.choose("touched")
    vocab = run.tokenizer.vocab
    heights: set[float] = set()
    for step in STEPS:
        if step < len(run.merges):
            player.go_to(f"{step + 1}")
        else:
            player.press("last")
        player.expect_step(step)
        player.expect_merges()
        heights.add(tab.locator(".player").evaluate(HEIGHT))
        words = player.words()
        assert words
        for ids in words:
            word = b"".join(vocab[id] for id in ids)
            if len(word) < 40:  # only the beginning of a longer word is drawn
                assert ids == symbols_before(run, word, step), (step, word)
        next_pair = [run.merges[step].pair] if step < len(run.merges) else []
        assert {tuple(pair) for pair in player.ringed()} == set(next_pair)
        assert player.race() == [tuple(pair) for pair in run.top_pairs(step, 10)]
    assert len(heights) == 1


def test_own_words_and_the_step_survive_a_refresh_and_a_change_of_page(
    tab: Page, run: TrainingRun
) -> None:
    text = "don't understand 日本語 <script>"
    player = open_player(tab, "step=0")
    player.choose("8")
    player.press("play")
    player.choose("frequent")
    player.choose("yours")
    own_words = tab.locator(".player .own-words input")
    own_words.fill(text)
    expect(tab.locator(".player .word")).to_have_count(7)
    player.expect_playing(True)
    player.press("play")
    rank = next(m.rank for m in run.merges if run.tokenizer.vocab[m.id] == b" function")
    player.go_to(" function")
    player.expect_step(rank)
    player.expect_merges()
    expected = [
        run.tokenizer.truncated(rank).encode(pretoken)
        for pretoken in run.tokenizer.pretokenizer.split(text)
    ]
    assert player.words() == expected
    tab.wait_for_url(f"**step={rank}*")
    tab.reload()
    wait_until_idle(tab)
    expect(own_words).to_have_value(text)
    expect(tab.locator(".player .word")).to_have_count(7)
    player.expect_step(rank)
    for name in ("Token boundaries", "Merge loop"):
        tab.get_by_role("link", name=name).click()
        expect(tab.get_by_role("heading", level=1)).to_have_text(name)
        wait_until_idle(tab)
    player.expect_step(rank)


def test_keys_reach_the_player_from_all_of_the_page_but_what_takes_them(tab: Page) -> None:
    player = open_player(tab, "step=3")
    player.expect_step(3)
    full = tab.locator(".player:fullscreen")
    for place in (tab.get_by_role("link", name="Merge loop"), tab.get_by_role("heading", level=1)):
        place.click()
        wait_until_idle(tab)
        tab.keyboard.press(" ")
        player.expect_playing(True)
        tab.keyboard.press(" ")
        player.expect_playing(False)
        player.go_to("4")
        tab.locator(".player .jump input").blur()
        tab.keyboard.press("ArrowRight")
        player.expect_step(4)
        tab.keyboard.press("F")
        expect(full).to_be_attached()
        tab.keyboard.press("f")
        expect(full).to_have_count(0)
    # A button outside of the player keeps its keys, and a field all letters.
    tab.get_by_role("button", name="Save as a replay").focus()
    for key in ("f", "ArrowRight", "Home"):
        tab.keyboard.press(key)
    with tab.expect_download():
        tab.keyboard.press(" ")
    jump = tab.locator(".player .jump input")
    jump.fill("")
    jump.press_sequentially(" f")
    expect(jump).to_have_value(" f")
    player.expect_playing(False)
    player.expect_step(4)
    expect(full).to_have_count(0)


def test_frames_and_scrubs_are_drawn_in_time(tab: Page, show_figures: ShowFigures) -> None:
    player = open_player(tab, "step=0")
    player.time_scrub(2_000)  # the rest of the run arrives after the merges at the cursor
    times = [player.time_scrub(step) for step in (3_800, 10, 1_900, 700, 2_500, 3_100, 45)]
    show_figures("milliseconds a scrub in a run of 3,839 merges", times)
    assert min(times) <= SLACK * SCRUB_MS
    player.choose("2")
    medians: list[float] = []
    while len(medians) < 3 and (not medians or min(medians) > SLACK * FRAME_MS):
        frames = player.frames_while_playing(90)  # more than two merges
        show_figures("milliseconds a frame at 2x", frames)
        medians.append(statistics.median(frames))
    assert min(medians) <= SLACK * FRAME_MS


def test_the_last_frame_shows_what_was_saved_and_leads_on(tab: Page, run: TrainingRun) -> None:
    player = open_player(tab)
    tab.locator(".player").focus()
    tab.keyboard.press("End")
    player.expect_step(len(run.merges))
    end = tab.locator(".player .end")
    before, after = run.tokens_after[0], run.tokens_after[-1]
    expect(end.locator(".result")).to_have_text(f"{before:,} → {after:,} tokens")
    expect(end.locator(".ribbon svg")).to_be_in_viewport()
    expect(end.locator(".savers li")).to_have_count(10)
    expect(tab.locator(".player .words")).to_be_hidden()
    expect(tab.locator(".player")).to_be_focused()
    expect(tab.locator(".player .spoken")).to_contain_text(f"have become {after:,}.")
    tab.keyboard.press("ArrowLeft")
    expect(tab.locator(".player .words")).to_be_visible()
    expect(end.locator(".result")).to_be_hidden()
    tab.keyboard.press("End")
    end.get_by_role("link", name="See it cut your text").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Token boundaries")
    wait_until_idle(tab)
