"""The player in saved replays: its controls, and how it draws unusual runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from playwright.sync_api import Page, expect

from tests.browser.player import Player, saved_replay
from tests.browser.runs_to_play import run_to_play

OpenRun = Callable[..., Player]
NOTHING_OVERFLOWS = """([player, width]) => {
  const parts = player.querySelectorAll(
    ".words li, .race li, .race .tile, .because, .changes li");
  return document.documentElement.scrollWidth <= width &&
    [...parts].every((part) => part.scrollWidth <= part.clientWidth + 3);
}"""


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return the address of a run's replay, saved on first use."""

    @cache
    def saved(name: str) -> str:
        return saved_replay(run_to_play(name), tmp_path_factory.mktemp("replay"), title=name)

    return saved


@pytest.fixture
def open_run(offline_page: Page, replay: Callable[[str], str]) -> OpenRun:
    """Open a run's replay at a step: open_run("hug", 3)."""

    def opened(name: str, step: int = 0) -> Player:
        player = Player.on(offline_page, replay(name))
        if step:
            player.go_to(f"{step + 1}")
            player.expect_step(step)
        return player

    return opened


def test_a_run_without_merges_shows_a_note_and_its_words(open_run: OpenRun) -> None:
    player = open_run("none")
    player.expect_sentence("No merges were learned")
    expect(player.page.locator(".player [data-act=play]")).to_be_disabled()
    assert [len(word) for word in player.words()] == [5, 6]


def test_hebrew_words_and_pairs_stand_from_right_to_left(open_run: OpenRun) -> None:
    run = run_to_play("hebrew")
    marker = run.tokenizer.table.end_of_word_id
    marked = [step for step, merge in enumerate(run.merges) if merge.right == marker]
    player = open_run("hebrew")
    player.choose("frequent")
    for step in sorted({0, marked[0], marked[-1], len(run.merges) - 1}):
        player.go_to(f"{step + 1}")
        player.expect_step(step)
        for word in player.words_across():
            assert word == sorted(word, reverse=True), "the first tile is not rightmost"
        if step in marked:
            ((left, right),) = player.tiles_across(".sentence .couple")
            assert right < left
    # The marker itself reads from the left, and stands where the word ends.
    end = player.page.locator(".player .words .tile span[dir=ltr]").first
    expect(end).to_have_text("</w>")
    assert end.evaluate("e => e.offsetLeft < e.parentElement.firstChild.offsetLeft")


def is_text(token: bytes) -> bool:
    return token.decode(errors="ignore").encode() == token


def test_characters_that_tokens_share_are_framed_until_a_merge_completes_them(
    open_run: OpenRun,
) -> None:
    run = run_to_play("scripts")
    vocab = run.tokenizer.vocab
    completed = [
        (step, vocab[merge.id].decode())
        for step, merge in enumerate(run.merges)
        if is_text(vocab[merge.id]) and not is_text(vocab[merge.left])
    ]
    player = open_run("scripts")
    player.choose("frequent")
    assert {shown for shown, _ in player.shared_characters()} >= set("שלםस日本")
    for step, letter in (completed[0], completed[-1]):
        player.go_to(f"{step + 1}")
        player.expect_step(step)
        for part in (".sentence .couple", ".race .next .couple"):
            expect(player.page.locator(f".player {part} .character")).to_have_text(letter)
        for shown, framed in player.shared_characters():
            character = bytes.fromhex(framed).decode()
            assert shown == (character if character != "\u200c" else "U+200C")


def test_full_screen_enlarges_all_and_obeys_a_presenters_remote_control(
    offline_page: Page, open_run: OpenRun
) -> None:
    offline_page.set_viewport_size({"width": 1920, "height": 1080})
    player = open_run("hug")
    full, keys = offline_page.locator(".player:fullscreen"), offline_page.locator(".player .keys")
    expect(keys).to_be_hidden()
    tile = offline_page.locator(".player .words .tile").first
    before = tile.evaluate("(tile) => tile.getBoundingClientRect().height")
    player.press("full")
    expect(keys).to_be_visible()
    assert tile.evaluate("(tile) => tile.getBoundingClientRect().height") > 1.4 * before
    assert full.evaluate("(root) => root.scrollWidth - root.clientWidth") == 0
    for key, step in [("PageDown", 1), ("PageDown", 2), ("PageUp", 1)]:
        offline_page.keyboard.press(key)
        player.expect_step(step)
    # A button that becomes disabled leaves the focus in the player.
    player.go_to("10")
    offline_page.locator(".player [data-act=forward]").focus()
    offline_page.keyboard.press("Enter")
    player.expect_step(10)
    offline_page.keyboard.press("ArrowLeft")
    player.expect_step(9)
    offline_page.keyboard.press("+")
    expect(offline_page.locator('.player input[value="2"]')).to_be_checked()
    offline_page.keyboard.press("-")
    expect(offline_page.locator('.player input[value="1"]')).to_be_checked()
    offline_page.keyboard.press("f")
    expect(full).to_have_count(0)
    # The window takes its old size a moment after full screen has ended.
    has_height = "([tile, height]) => tile.getBoundingClientRect().height === height"
    offline_page.wait_for_function(has_height, arg=[tile.element_handle(), before])


def test_the_controls_stay_in_sight_on_a_phone(offline_page: Page, open_run: OpenRun) -> None:
    offline_page.set_viewport_size({"width": 390, "height": 844})
    player = open_run("sample", 45)
    for part in (".sentence", ".race", ".gave"):
        player.page.locator(f".player {part}").scroll_into_view_if_needed()
        expect(player.page.locator(".player [data-act=play]")).to_be_in_viewport(ratio=1)


def test_nothing_overflows_the_page_in_wide_fonts(offline_page: Page, open_run: OpenRun) -> None:
    player = open_run("sample", 2_500)
    player.use_wide_fonts()
    root = offline_page.locator(".player").element_handle()
    for width in (320, 390, 820, 1_440):
        offline_page.set_viewport_size({"width": width, "height": 900})
        for step in (1, 2_501, 3_801):
            player.go_to(f"{step}")
            player.expect_step(step - 1)
            offline_page.wait_for_function(NOTHING_OVERFLOWS, arg=[root, width])
