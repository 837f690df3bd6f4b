"""Guessing the next merge: it is hidden until the guess, judged by count, and scored once."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import bpe_core as bpe
from tests.browser.player import Player, saved_replay

# Before the first merge: u g 20, u n 16, h u 15, p u 17, g s 5, b u 4.
HUG_WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
COUNT_ANIMATIONS = """() => {
  window.animated = 0;
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...how) {
    window.animated++;
    return animate.apply(this, how);
  };
}"""


@pytest.fixture
def player(offline_page: Page, tmp_path: Path) -> Player:
    config = bpe.TrainingConfig(12, pretokenizer="none", base="characters", special_tokens=())
    run = bpe.train(bpe.Corpus.from_word_counts(HUG_WORDS), config)
    offline_page.emulate_media(reduced_motion="reduce")
    return Player.on(offline_page, saved_replay(run, tmp_path, title="hug"))


def test_a_guess_by_pointer_reveals_its_merge_alone_and_is_scored_once(player: Player) -> None:
    page = player.page
    player.toggle_guessing()
    player.expect_sentence("Which pair comes next?")
    assert player.ringed() == []
    expect(page.locator(".player .race")).to_be_hidden()
    expect(page.locator(".player .because")).to_have_text("Guess first to see the counts.")
    expect(page.locator(".player .candidate")).to_have_count(6)
    expect(page.locator(".player .risen li")).to_have_count(0)

    player.choose("frequent")
    word = page.locator(".player .word").filter(has_text="hugs")
    tile = word.locator(".tile").nth(2)
    tile.hover(position={"x": 2, "y": 10})
    expect(word.locator(".tile.pointed")).to_have_text(["u", "g"])
    tile.click(position={"x": 2, "y": 10})
    player.expect_verdict("Right. ug occurs 20 times, 3 more than the next.")
    player.press("forward")
    player.expect_sentence("Which pair comes next?")
    player.guess("h, ug")
    player.expect_score("1 of 2 right")
    assert [count for _, _, count in player.race()] == [16, 15]  # the winner, and the pair guessed
    expect(page.locator(".player .race-note")).to_contain_text("stay hidden")
    expect(page.locator(".player .risen")).to_have_text("hidden while you guess")

    page.reload()
    player.expect_score("1 of 2 right")
    player.expect_verdict("Right. ug occurs 20 times, 3 more than the next.")
    player.press("forward")
    player.expect_sentence("Next, merge 2")  # guessed before: not asked again
    player.expect_score("1 of 2 right")
    player.toggle_guessing()
    expect(page.locator(".player .race li:not(.leaving)")).to_have_count(6)
    expect(page.locator(".player .risen li").first).to_contain_text("+")


def test_playing_asks_by_keyboard_alone_and_reduced_motion_animates_nothing(
    player: Player,
) -> None:
    page = player.page
    page.evaluate(COUNT_ANIMATIONS)
    candidate, score = page.locator(".player .candidate").first, page.locator(".player .score")
    page.locator(".player .guess input").focus()
    page.keyboard.press("Space")
    player.expect_sentence("Which pair comes next?")
    page.get_by_role("button", name="u, g").press("Enter")
    player.expect_score("1 of 1 right")
    page.keyboard.press("Enter")  # the step forward has the focus now
    player.expect_step(1)
    expect(candidate).to_be_focused()
    page.locator(".player").focus()
    page.keyboard.press("Space")
    player.expect_playing(True)
    expect(candidate).to_be_focused()
    page.keyboard.press("Enter")
    expect(score).to_contain_text("of 2 right")
    player.expect_step(2)
    expect(candidate).to_be_focused()
    page.locator(".player .skip").press("Enter")
    player.expect_step(3)
    expect(score).to_contain_text("of 2 right")  # a skipped question does not count
    expect(candidate).to_be_focused()
    page.keyboard.press("ArrowRight")  # shows the answer and stops playing
    player.expect_playing(False)
    expect(page.locator(".player")).to_be_focused()
    page.keyboard.press("Space")
    player.expect_step(4)
    assert page.evaluate("window.animated") == 0
