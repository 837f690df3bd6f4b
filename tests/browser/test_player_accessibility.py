"""The player in a saved replay breaks none of axe's rules, even while guessing."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

import bpe_core as bpe
from tests.browser.player import Player, saved_replay
from tests.browser.test_accessibility import SCHEMES, broken_rules


def still_broken_rules(page: Page) -> list[str]:
    """Return the rules that are broken once colours no longer change."""
    page.wait_for_function("() => document.getAnimations().length === 0")
    return broken_rules(page)


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a replay with words of many kinds and a visitor's own words."""
    text = "hug hugs pug \u202eabc 日本 aaaa"
    run = bpe.train(bpe.Corpus.from_text(f"{text} {text}"), bpe.TrainingConfig(270))
    folder = tmp_path_factory.mktemp("replay")
    return saved_replay(run, folder, title="Words", text="hug \x00 </w>")


@pytest.mark.parametrize(("scheme", "width"), SCHEMES)
def test_questions_answers_own_words_and_the_end_are_accessible(
    offline_page: Page, replay: str, scheme: Literal["light", "dark"], width: int
) -> None:
    offline_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    offline_page.set_viewport_size({"width": width, "height": 900})
    player = Player.on(offline_page, replay)
    player.toggle_guessing()
    player.expect_sentence("Which pair comes next?")
    assert still_broken_rules(offline_page) == []
    offline_page.locator(".player .candidate").first.click()
    expect(offline_page.locator(".player .score")).to_contain_text("of 1 right")
    assert still_broken_rules(offline_page) == []
    player.toggle_guessing()
    player.choose("yours")
    player.go_to("zyzzyva")
    expect(offline_page.locator(".player .jump-problem")).not_to_be_empty()
    assert still_broken_rules(offline_page) == []
    player.choose("frequent")
    player.press("last")
    player.expect_sentence("are done")
    assert still_broken_rules(offline_page) == []
