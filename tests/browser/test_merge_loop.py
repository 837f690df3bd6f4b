"""The merge loop as a visitor uses it: playing, stepping, scrubbing, refreshing, odd runs."""

from __future__ import annotations

from pydoc_data import topics

import pytest
from playwright.sync_api import Page, expect

from bpe_core.corpus import Corpus
from bpe_core.runs import TrainingRun
from bpe_core.training import train
from bpe_core.types import TrainingConfig
from tests.browser.conftest import KeepRun
from tests.browser.helpers import assert_no_traceback, wait_until_idle
from tests.browser.player import Player

pytestmark = pytest.mark.browser

HOSTILE = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1">'
HOSTILE_WORD = "</script></w>\x00🧩"
CLASSROOM = TrainingConfig(
    18,
    pretokenizer="none",
    base="characters",
    end_of_word="</w>",
    special_tokens=(),
    tie_break="first-seen",
)
RUNS = {
    "hug": (
        Corpus.from_word_counts({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}),
        CLASSROOM,
    ),
    "none": (Corpus.from_text("hello there"), TrainingConfig(257)),
    "one": (Corpus.from_text("hello there"), TrainingConfig(258)),
    "hostile": (
        Corpus.from_text(" ".join([HOSTILE, HOSTILE_WORD] * 4)),
        TrainingConfig(400, pretokenizer="whitespace"),
    ),
    "long-word": (Corpus.from_text("ab" * 4_000), TrainingConfig(300, pretokenizer="none")),
    "partial": (Corpus.from_text("日本語 日本 日曜日 \u202eabc 🧩🧩"), TrainingConfig(270)),
    "long": (
        Corpus.from_documents(list(topics.topics.values())),
        TrainingConfig(5_900),
    ),
}


def run_id(name: str) -> str:
    return name.encode().hex().ljust(32, "0")


@pytest.fixture(scope="module")
def runs() -> dict[str, TrainingRun]:
    return {name: train(corpus, config) for name, (corpus, config) in RUNS.items()}


@pytest.fixture(scope="module")
def loop_url(runs: dict[str, TrainingRun], app_url: str, keep_run: KeepRun) -> str:
    for name, run in runs.items():
        keep_run(run_id(name), name, run)
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


def test_full_speed_ends_at_the_last_merge_with_a_true_sentence(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "long", 5_200))
    player.choose("max")
    player.press("play")
    player.expect_step(5_643)
    player.expect_playing(False)
    player.expect_sentence("All 5,643 merges are done")


def test_a_pause_at_full_speed_leaves_the_sentence_of_its_step(
    page: Page, loop_url: str, runs: dict[str, TrainingRun]
) -> None:
    player = Player.open(page, address(loop_url, "long"))
    player.choose("max")
    player.press("play")
    expect(page.locator(".player .position b")).to_contain_text(",")
    player.press("play")
    player.expect_playing(False)
    step = int(page.locator(".player .position b").inner_text().replace(",", ""))
    player.expect_sentence(f"Next, merge {step + 1:,}")
    assert player.race() == [tuple(pair) for pair in runs["long"].top_pairs(step, 10)]


def test_one_step_fuses_the_pair_in_the_words(
    page: Page, loop_url: str, runs: dict[str, TrainingRun]
) -> None:
    run = runs["hug"]
    player = Player.open(page, address(loop_url, "hug"))
    player.choose("frequent")
    merge = run.merges[0]
    assert all(merge.id not in word for word in player.words())
    player.press("forward")
    player.expect_step(1)
    player.expect_sentence("Next, merge 2")
    assert sum(word.count(merge.id) for word in player.words()) == 3  # hug, pug, hugs
    player.press("back")
    player.expect_step(0)
    assert all(merge.id not in word for word in player.words())


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


def test_keys_typed_into_a_field_do_not_move_the_player(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "hug", 3))
    field = page.locator(".player .jump input")
    field.focus()
    page.keyboard.type("r c")
    for key in ["Home", "End", "ArrowLeft", "ArrowRight"]:
        page.keyboard.press(key)
    expect(field).to_have_value("r c")
    player.expect_step(3)
    player.expect_playing(False)


def test_a_button_that_goes_dead_leaves_the_keyboard_in_the_player(
    page: Page, loop_url: str
) -> None:
    player = Player.open(page, address(loop_url, "hug", 9))
    page.locator(".player [data-act=forward]").focus()
    page.keyboard.press("Enter")
    player.expect_step(10)
    page.keyboard.press("ArrowLeft")
    player.expect_step(9)


def test_the_scrub_bar_moves_the_cursor(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "hug"))
    page.locator(".player .scrub").fill("7")
    player.expect_step(7)
    player.expect_sentence("Next, merge 8")


def test_the_step_survives_a_refresh_and_a_change_of_page(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "long"))
    player.go_to("124")
    page.wait_for_url("**step=123*")
    page.reload()
    wait_until_idle(page)
    player.expect_step(123)
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url("**/compare*")
    wait_until_idle(page)
    page.get_by_role("link", name="Merge loop").click()
    page.wait_for_url("**/merge_loop*")
    player.expect_step(123)


@pytest.mark.parametrize("step", ["-1", "abc", "99999999999", "%3Cb%3E", ""])
def test_a_step_that_is_none_is_ignored_or_clipped(page: Page, loop_url: str, step: str) -> None:
    player = Player.open(page, f"{loop_url}?run={run_id('hug')}&step={step}")
    player.expect_step(0)
    assert_no_traceback(page)


def test_the_window_of_a_long_run_follows_the_cursor(
    page: Page, loop_url: str, runs: dict[str, TrainingRun]
) -> None:
    player = Player.open(page, address(loop_url, "long"))
    player.go_to("4,001")
    player.expect_step(4_000)
    player.expect_sentence("Next, merge 4,001")
    expect(page.locator(".player .race .number").first).to_be_visible()
    expect(page.locator(".player .because")).to_contain_text("occur")
    assert player.race() == [tuple(pair) for pair in runs["long"].top_pairs(4_000, 10)]
    assert player.ringed()


def test_reduced_motion_animates_nothing(page: Page, loop_url: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    player = Player.open(page, address(loop_url, "hug"))
    page.evaluate(
        """() => { window.animated = 0;
             const animate = Element.prototype.animate;
             Element.prototype.animate = function (...how) {
               animated++;
               return animate.apply(this, how); } }"""
    )
    player.press("forward")
    player.expect_step(1)
    player.press("play")
    player.expect_step(3)
    player.press("play")
    player.expect_playing(False)
    assert page.evaluate("animated") == 0


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


def test_a_run_without_merges_says_so_and_shows_its_words(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "none"))
    player.expect_sentence("No merge was learned")
    expect(page.locator(".player [data-act=play]")).to_be_disabled()
    assert [len(word) for word in player.words()] == [5, 6]


def test_a_run_of_one_merge_plays_it(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "one"))
    expect(page.locator(".player .position")).to_have_text("0 of 1 merge")
    player.go_to("2")
    expect(page.locator(".player .jump-problem")).to_have_text("This run has one merge, number 1.")
    player.press("play")
    player.expect_step(1)
    player.expect_playing(False)
    player.expect_sentence("The one merge is done")


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


def test_a_very_long_word_is_drawn_by_its_beginning(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "long-word"))
    assert [len(word) for word in player.words()] == [40]
    expect(page.locator(".player .more")).to_have_text("…")


def test_cut_characters_stand_as_their_bytes(page: Page, loop_url: str) -> None:
    player = Player.open(page, address(loop_url, "partial"))
    player.choose("frequent")
    expect(page.locator(".player .words")).to_contain_text("E6")
    expect(page.locator(".player .words")).not_to_contain_text("\ufffd")
    player.press("last")
    expect(page.locator(".player .words")).to_contain_text("日")


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_nothing_stands_outside_the_page(page: Page, loop_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    player = Player.open(page, address(loop_url, "long", 2_500))
    for step in ("1", "2501"):
        player.go_to(step)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        overflowing = page.locator(".player").evaluate(
            """root => [...root.querySelectorAll(
                   ".words li, .race li, .race .tile, .because, .changes li")]
                 .filter(e => e.scrollWidth > e.clientWidth + 3).map(e => e.textContent)"""
        )
        assert overflowing == []


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


def test_words_stay_in_their_cells_while_the_merges_of_their_scene_play(
    page: Page, loop_url: str
) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    player = Player.open(page, address(loop_url, "long", 2_500))
    title = page.locator(".player .words-part h2")
    cells_of: dict[str, list[tuple[int, int, int, int]]] = {}
    for step in [*range(2_501, 2_512), *range(2_510, 2_500, -1)]:
        player.go_to(f"{step}")
        player.expect_sentence(f"Next, merge {step:,}")
        cells = player.cells()
        assert cells_of.setdefault(title.inner_text(), cells) == cells
    assert len(cells_of) < 11  # at least one scene has several merges
