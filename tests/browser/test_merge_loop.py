"""The Merge loop page in a browser: leaving and returning, hostile text, and a stable layout."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bpe_core.runs.close_races import CLOSE_RACE, opening_step
from tests.browser.conftest import DESK, KeepRun
from tests.browser.helpers import wait_until_idle
from tests.browser.player import Player
from tests.browser.runs_to_play import HOSTILE, run_to_play
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

HOSTILE_RUN = b"hostile".hex().ljust(32, "0")


@pytest.fixture(scope="module")
def loop_url(app_url: str, keep_run: KeepRun) -> str:
    keep_run(HOSTILE_RUN, "hostile", run_to_play("hostile"))
    return f"{app_url}/merge_loop?run={HOSTILE_RUN}"


@pytest.fixture(scope="module")
def player(context: BrowserContext, app_url: str) -> Iterator[Player]:
    """Open the sample run once for several tests; each starts where the last one left it."""
    page = context.new_page()
    yield Player.open(page, f"{app_url}/merge_loop?step=0")
    page.close()


def go_to_page(page: Page, name: str) -> None:
    page.get_by_role("link", name=name).click()
    page.wait_for_url(f"**/{name.lower().replace(' ', '_')}*")
    wait_until_idle(page)


def test_the_sample_opens_at_its_first_close_race_of_letters(page: Page, app_url: str) -> None:
    step = opening_step(load_run(SAMPLE_RUN_ID).run)
    assert step > 0
    player = Player.open(page, f"{app_url}/merge_loop")
    player.expect_step(step)
    player.expect_merges()
    # The first two pairs are close enough for a visible race.
    (_, _, winner), (_, _, runner_up), *_ = player.race()
    assert winner >= runner_up >= CLOSE_RACE * winner
    expect(page.locator(".player .race-note")).to_contain_text("The run opens here")


def test_the_step_survives_a_refresh_and_a_change_of_page(page: Page, app_url: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    player = Player.open(page, f"{app_url}/merge_loop?step=0")
    player.go_to("124")
    page.wait_for_url("**step=123*")
    page.reload()
    wait_until_idle(page)
    player.expect_step(123)
    player.go_to("2,001")
    page.wait_for_url("**step=2000*")
    wait_until_idle(page)
    go_to_page(page, "Token boundaries")
    go_to_page(page, "Merge loop")
    player.expect_step(2_000)
    assert errors == []


def test_changing_words_does_not_stop_playing(page: Page, app_url: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    player = Player.open(page, f"{app_url}/merge_loop?step=0")
    player.choose("8")
    player.press("play")
    player.choose("frequent")
    player.choose("yours")
    page.locator(".player .own-words input").fill("the class")
    expect(page.locator(".player .word")).to_have_count(2)
    player.expect_playing(True)
    go_to_page(page, "Token boundaries")  # leaving ends the page's timers
    assert errors == []


def test_markup_in_tokens_is_text(page: Page, loop_url: str) -> None:
    player = Player.open(page, f"{loop_url}&step=0")
    player.press("last")
    expect(page.locator(".player .words")).to_contain_text("<script>")
    player.choose("frequent")
    expect(page.locator(".player .words")).to_contain_text("</script></w>U+0000🧩")
    player.press("first")
    expect(page.locator(".player .words")).to_contain_text("</script></w>U+0000F09FA7🧩A9")
    player.choose("yours")
    page.locator(".player .own-words input").fill(HOSTILE)
    expect(page.locator(".player .word .missing")).to_have_count(0)
    expect(page.locator(".player .words")).to_contain_text("onerror=")
    player.go_to(HOSTILE)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".player .words script, .player .words img").count() == 0


def test_the_page_keeps_its_height_at_every_merge(player: Player) -> None:
    player.page.set_viewport_size(DESK)
    height = "e => e.getBoundingClientRect().height"
    root = player.page.locator(".player")
    heights = set()
    for step in (1, 2, 46, 700, 2_501, 3_839):
        player.go_to(f"{step:,}")
        player.expect_sentence(f"Next, merge {step:,}")
        player.expect_merges()
        heights.add(root.evaluate(height))
    player.press("last")
    player.expect_step(3_839)
    heights.add(root.evaluate(height))
    assert len(heights) == 1
