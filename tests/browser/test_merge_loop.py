"""The merge loop as a visitor uses it: playing, jumping, leaving and coming back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import KeepRun
from tests.browser.helpers import assert_no_traceback, wait_until_idle
from tests.browser.player import Player
from tests.browser.runs_to_play import HOSTILE, NAMES, run_to_play

pytestmark = pytest.mark.browser


def run_id(name: str) -> str:
    return name.encode().hex().ljust(32, "0")


@pytest.fixture(scope="module")
def loop_url(app_url: str, keep_run: KeepRun) -> str:
    for name in NAMES:
        keep_run(run_id(name), name, run_to_play(name))
    return f"{app_url}/merge_loop"


def address(loop_url: str, name: str, step: int = 0) -> str:
    return f"{loop_url}?run={run_id(name)}&step={step}"


def test_playing_runs_to_the_last_merge_and_stops(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "hug"))
    player.choose("8")
    player.press("play")
    player.expect_playing(True)
    n_merges = 10
    player.expect_step(n_merges)
    player.expect_playing(False)
    player.expect_sentence(f"All {n_merges} merges are done")
    player.expect_sentence("It stopped because the vocabulary reached 18.")
    expect(page.locator(".player [data-act=forward]")).to_be_disabled()
    player.press("play")  # from the start again
    player.expect_playing(True)
    player.press("play")
    player.expect_playing(False)


def test_the_keyboard_alone_steps_plays_and_pauses(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "hug"))
    page.locator(".player").focus()
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 10)]:
        page.keyboard.press(key)
        player.expect_step(step)
    page.keyboard.press("Home")
    player.expect_step(0)
    page.keyboard.press("Space")
    player.expect_playing(True)
    page.keyboard.press("Space")
    player.expect_playing(False)


def test_the_step_survives_a_refresh_and_a_change_of_page(page: Page, loop_url: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    player = Player.open(page, address(loop_url, "long"))
    player.go_to("124")
    page.wait_for_url("**step=123*")
    page.reload()
    wait_until_idle(page)
    player.expect_step(123)
    player.go_to("2,001")
    page.wait_for_url("**step=2000*")
    wait_until_idle(page)
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**/compare*")
    wait_until_idle(page)
    page.get_by_role("link", name="Merge loop").click()
    page.wait_for_url("**/merge_loop*")
    player.expect_step(2_000)
    assert errors == []


@pytest.mark.parametrize("step", ["-1", "abc", "99999999999", "%3Cb%3E", ""])
def test_a_step_that_is_none_is_ignored_or_clipped(page: Page, loop_url: str, step: str) -> None:
    player = Player.open(page, f"{loop_url}?run={run_id('hug')}&step={step}")
    player.expect_step(0)
    assert_no_traceback(page)


def test_the_window_of_a_long_run_follows_the_cursor(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "long"))
    player.go_to("4,001")
    player.expect_step(4_000)
    player.expect_sentence("Next, merge 4,001")
    expect(page.locator(".player .race .number").first).to_be_visible()
    expect(page.locator(".player .because")).to_contain_text("occur")
    assert player.race() == [tuple(pair) for pair in run_to_play("long").top_pairs(4_000, 10)]
    assert player.ringed()


def test_changing_words_while_playing_goes_on_playing(page: Page, loop_url: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    player = Player.open(page, address(loop_url, "long"))
    player.choose("8")
    player.press("play")
    player.choose("frequent")
    player.choose("yours")
    page.locator(".player .own-words input").fill("the class")
    expect(page.locator(".player .word")).to_have_count(2)
    player.expect_playing(True)
    page.get_by_role("link", name="Compare").click()  # timers end with the page
    page.wait_for_url("**/compare*")
    wait_until_idle(page)
    assert errors == []


def test_markup_in_tokens_is_text(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "hostile"))
    player.press("last")
    expect(page.locator(".player .words")).to_contain_text("<script>")
    player.choose("frequent")
    expect(page.locator(".player .words")).to_contain_text("</script></w>U+0000🧩")
    player.press("first")
    expect(page.locator(".player .words")).to_contain_text("</script></w>U+0000F09FA7A9")
    player.choose("yours")
    page.locator(".player .own-words input").fill(HOSTILE)
    expect(page.locator(".player .word .missing")).to_have_count(0)
    expect(page.locator(".player .words")).to_contain_text("onerror=")
    player.go_to(HOSTILE)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".player .words script, .player .words img").count() == 0


def test_the_page_keeps_its_height_while_merges_play(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "long"))
    height = "e => e.getBoundingClientRect().height"
    root = page.locator(".player")
    heights = set()
    for step in ["1", "2", "46", "700", "2,501", "5,643"]:
        player.go_to(step)
        heights.add(root.evaluate(height))
    player.press("last")
    heights.add(root.evaluate(height))
    assert len(heights) == 1


def test_short_words_stand_side_by_side_above_the_wide_ones(page: Page, loop_url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    player = Player.open(page, address(loop_url, "long"))
    n_wide = 0
    for step in (46, 47, 300, 901, 2_501, 5_643):
        player.go_to(f"{step}")
        player.expect_sentence(f"Next, merge {step:,}")
        cells = player.cells()
        short = [(row, column) for row, column, _, span in cells if span == 1]
        wide = [(row, lines) for row, _, lines, span in cells if span == 2]
        assert short == [(i // 2 + 1, i % 2 + 1) for i in range(len(short))]
        assert all(row > (len(short) + 1) // 2 for row, _ in wide)
        n_wide += len(wide)
    assert n_wide
