"""Guessing the next merge: it is hidden until the guess, judged by count, and scored once."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.run import TrainingRun
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from tests.browser.player import Player, saved_replay

# Before the first merge: u g 20, u n 16, h u 15, p u 17, g s 5, b u 4.
HUG_WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    config = TrainingConfig(12, pretokenizer="none", base="characters", special_tokens=())
    return train(Corpus.from_word_counts(HUG_WORDS), config)


@pytest.fixture
def player(offline_page: Page, run: TrainingRun, tmp_path: Path) -> Player:
    player = Player.on(offline_page, saved_replay(run, tmp_path, title="hug"))
    player.toggle_guessing()
    return player


def test_the_answer_is_not_in_the_page_while_the_question_is_asked(player: Player) -> None:
    player.expect_sentence("Which pair comes next?")
    assert player.ringed() == []
    expect(player.page.locator(".player .race")).to_be_hidden()
    expect(player.page.locator(".player .because")).to_have_text("Guess first to see the counts.")
    expect(player.page.locator(".player .candidate")).to_have_count(6)
    expect(player.page.locator(".player .risen li")).to_have_count(0)
    expect(player.page.locator(".player .spoken")).to_have_text(
        "0 of 5 merges. Which pair comes next?"
    )


def test_two_tiles_of_a_word_can_be_clicked(player: Player) -> None:
    player.choose("frequent")
    word = player.page.locator(".player .word").filter(has_text="hugs")
    box = word.locator(".tile").nth(2).bounding_box()
    assert box is not None
    player.page.mouse.move(box["x"] + 2, box["y"] + 10)
    expect(word.locator(".tile.pointed")).to_have_text(["u", "g"])
    player.page.mouse.click(box["x"] + 2, box["y"] + 10)
    player.expect_verdict("Right. ug occurs 20 times, 3 more than the next.")


def test_guessing_works_with_only_the_keyboard(player: Player) -> None:
    player.page.locator(".player .guess input").focus()
    player.page.keyboard.press("Space")
    player.expect_sentence("Next, merge 1")
    player.page.keyboard.press("Space")
    player.expect_sentence("Which pair comes next?")
    player.page.get_by_role("button", name="u, g").focus()
    player.page.keyboard.press("Enter")
    player.expect_score("1 of 1 right")
    player.page.keyboard.press("Enter")  # the step forward has the focus now
    player.expect_step(1)
    expect(player.page.locator(".player .candidate").first).to_be_focused()
    player.page.keyboard.press("Enter")
    expect(player.page.locator(".player .score")).to_contain_text("of 2 right")


def test_a_tied_pair_that_is_not_in_the_list_is_a_right_guess(
    offline_page: Page, tmp_path: Path
) -> None:
    twelve = "ab cd ef gh ij kl mn op qr st uv wx"
    tied = train(Corpus.from_text(twelve), TrainingConfig(260, pretokenizer="whitespace"))
    player = Player.on(offline_page, saved_replay(tied, tmp_path, title="tie"))
    player.toggle_guessing()
    player.choose("frequent")
    word = offline_page.locator(".player .word").filter(has_text="wx")
    word.locator(".tile").first.click()
    player.expect_verdict(
        "Right. wx occurs once, as often as any. Another goes first: the lower ids win."
    )
    player.expect_score("1 of 1 right")
    ties = offline_page.locator(".player .ties summary")
    expect(ties).to_be_hidden()  # it would name the next winners
    player.toggle_guessing()
    expect(ties).to_have_text("All 12 pairs that tie, in the order of the rule")


def test_after_a_guess_nothing_reveals_later_winners(player: Player) -> None:
    player.guess("h, u")
    player.expect_score("0 of 1 right")
    assert [count for _, _, count in player.race()] == [20, 15]  # the winner, and the pair guessed
    expect(player.page.locator(".player .race-note")).to_contain_text("stay hidden")
    expect(player.page.locator(".player .margin")).to_have_text("3 over the next")
    expect(player.page.locator(".player .risen")).to_have_text("hidden while you guess")
    expect(player.page.locator(".player .words-part h2")).to_have_text("Words of merge 1")
    player.toggle_guessing()
    assert len(player.race()) == 6
    expect(player.page.locator(".player .risen li").first).to_contain_text("+")


def test_the_score_survives_a_refresh(player: Player) -> None:
    player.guess("u, g")
    player.press("forward")
    player.expect_sentence("Which pair comes next?")
    player.guess("h, ug")
    player.expect_score("1 of 2 right")
    player.page.reload()
    player.expect_score("1 of 2 right")
    player.expect_verdict("Right. ug occurs 20 times, 3 more than the next.")
    player.press("forward")
    player.expect_score("1 of 2 right")
    player.expect_sentence("Next, merge 2")  # guessed before: not asked again


def test_playing_asks_before_each_merge_and_plays_on_after_the_answer(player: Player) -> None:
    player.press("play")
    player.expect_playing(True)
    player.expect_sentence("Which pair comes next? To play on, click")
    player.guess("u, g")
    player.expect_verdict("Right. ug occurs 20 times, 3 more than the next.")
    player.expect_sentence("Next, merge 1")  # the winner and its count, before they merge
    player.expect_score("1 of 1 right")
    player.expect_step(1)
    player.expect_sentence("Which pair comes next?")
    player.expect_playing(True)
    player.guess("p, u")
    player.expect_score("1 of 2 right")
    player.expect_step(2)
    player.expect_sentence("Which pair comes next?")
    player.page.locator(".player .skip").click()
    player.expect_sentence("Next, merge 3")
    player.expect_score("1 of 2 right")  # a skipped question does not count
    player.expect_step(3)
    player.press("play")
    player.expect_playing(False)
    player.press("back")
    player.expect_score("1 of 2 right")
    player.expect_sentence("Next, merge 3")


def test_playing_and_guessing_need_the_keyboard_alone(player: Player) -> None:
    player.page.locator(".player").focus()
    player.page.keyboard.press("Space")
    player.expect_playing(True)
    candidate = player.page.locator(".player .candidate").first
    expect(candidate).to_be_focused()
    player.page.keyboard.press("Enter")
    expect(player.page.locator(".player .score")).to_contain_text("of 1 right")
    player.expect_step(1)
    expect(candidate).to_be_focused()
    player.page.keyboard.press("Shift+Tab")
    expect(player.page.locator(".player .skip")).to_be_visible()
    player.page.locator(".player .skip").focus()
    player.page.keyboard.press("Enter")
    player.expect_step(2)
    expect(player.page.locator(".player .score")).to_contain_text("of 1 right")
    expect(candidate).to_be_focused()
    player.page.keyboard.press("ArrowRight")  # shows the answer and stops playing
    player.expect_playing(False)
    expect(player.page.locator(".player")).to_be_focused()
    player.page.keyboard.press("Space")
    player.expect_step(3)


def test_playing_with_reduced_motion_asks_and_animates_nothing(
    offline_page: Page, run: TrainingRun, tmp_path: Path
) -> None:
    offline_page.emulate_media(reduced_motion="reduce")
    player = Player.on(offline_page, saved_replay(run, tmp_path, title="hug"))
    player.toggle_guessing()
    offline_page.evaluate(
        "() => { window.animated = 0; const animate = Element.prototype.animate;"
        " Element.prototype.animate = function (...how) {"
        " window.animated++; return animate.apply(this, how); } }"
    )
    player.press("play")
    player.guess("u, g")
    player.expect_score("1 of 1 right")
    player.expect_step(1)
    player.expect_sentence("Which pair comes next?")
    player.expect_playing(True)
    assert offline_page.evaluate("window.animated") == 0
