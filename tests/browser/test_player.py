"""The player in saved replays: its controls, and how it draws unusual runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from playwright.sync_api import Page, expect

from tests.browser.player import Player, saved_replay
from tests.browser.runs_to_play import run_to_play

OpenRun = Callable[..., Player]


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


def test_a_button_that_becomes_disabled_leaves_the_focus_in_the_player(open_run: OpenRun) -> None:
    player = open_run("hug", 9)
    player.page.locator(".player [data-act=forward]").focus()
    player.page.keyboard.press("Enter")
    player.expect_step(10)
    player.page.keyboard.press("ArrowLeft")
    player.expect_step(9)


def test_a_run_without_merges_shows_a_note_and_its_words(open_run: OpenRun) -> None:
    player = open_run("none")
    player.expect_sentence("No merges were learned")
    expect(player.page.locator(".player [data-act=play]")).to_be_disabled()
    assert [len(word) for word in player.words()] == [5, 6]


def test_partial_characters_are_drawn_as_bytes(open_run: OpenRun) -> None:
    player = open_run("partial")
    player.choose("frequent")
    expect(player.page.locator(".player .words")).to_contain_text("E6")
    expect(player.page.locator(".player .words")).not_to_contain_text("\ufffd")
    player.press("last")
    expect(player.page.locator(".player .words")).to_contain_text("日")


def test_hebrew_words_and_pairs_stand_from_right_to_left(open_run: OpenRun) -> None:
    run = run_to_play("hebrew")
    marker = run.tokenizer.end_of_word_id
    player = open_run("hebrew")
    player.choose("frequent")
    for step in range(len(run.merges)):
        player.expect_step(step)
        for word in player.words_across():
            assert word == sorted(word, reverse=True), "the first tile is not rightmost"
        if run.merges[step].right == marker:
            ((left, right),) = player.tiles_across(".sentence .couple")
            assert right < left
        player.press("forward")
    # The marker itself reads from the left, and stands where the word ends.
    marked = player.page.locator(".player .words .tile span[dir=ltr]").first
    expect(marked).to_have_text("</w>")
    assert marked.evaluate("e => e.offsetLeft < e.parentElement.firstChild.offsetLeft")


def test_characters_that_tokens_share_are_framed_above_their_bytes(open_run: OpenRun) -> None:
    run = run_to_play("scripts")
    player = open_run("scripts")
    player.choose("frequent")
    for step in range(len(run.merges)):
        player.expect_step(step)
        for shown, framed in player.shared_characters():
            character = bytes.fromhex(framed).decode()
            assert shown == (character if character != "\u200c" else "U+200C")
        player.press("forward")
    player.press("first")
    player.expect_step(0)
    assert {shown for shown, _ in player.shared_characters()} >= set("שלםस日本")


def is_text(token: bytes) -> bool:
    return token.decode(errors="ignore").encode() == token


def test_a_pair_of_bytes_shows_the_letter_that_it_completes(open_run: OpenRun) -> None:
    run = run_to_play("scripts")
    vocab = run.tokenizer.vocab
    completed = [
        (step, vocab[merge.id].decode())
        for step, merge in enumerate(run.merges)
        if is_text(vocab[merge.id]) and not is_text(vocab[merge.left])
    ]
    player = open_run("scripts")
    for step, letter in completed[:4]:
        player.go_to(f"{step + 1}")
        player.expect_step(step)
        for part in (".sentence .couple", ".race .next .couple"):
            expect(player.page.locator(f".player {part} .character")).to_have_text(letter)
    assert len(completed) >= 4


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
    offline_page.keyboard.press("+")
    expect(offline_page.locator('.player input[value="2"]')).to_be_checked()
    offline_page.keyboard.press("-")
    expect(offline_page.locator('.player input[value="1"]')).to_be_checked()
    offline_page.keyboard.press("f")
    expect(full).to_have_count(0)
    assert tile.evaluate("(tile) => tile.getBoundingClientRect().height") == before


def test_the_controls_stay_in_sight_on_a_phone(offline_page: Page, open_run: OpenRun) -> None:
    offline_page.set_viewport_size({"width": 390, "height": 844})
    player = open_run("sample", 45)
    for part in (".sentence", ".race", ".gave"):
        player.page.locator(f".player {part}").scroll_into_view_if_needed()
        expect(player.page.locator(".player [data-act=play]")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("fonts", ["of this machine", "wide"])
@pytest.mark.parametrize("width", [320, 390, 820, 1440])
def test_nothing_overflows_the_page(
    offline_page: Page, open_run: OpenRun, width: int, fonts: str
) -> None:
    offline_page.set_viewport_size({"width": width, "height": 900})
    player = open_run("sample", 2_500)
    if fonts == "wide":
        player.use_wide_fonts()
    for step in ("1", "2501", "3801"):
        player.go_to(step)
        assert player.page.evaluate("document.documentElement.scrollWidth") <= width
        overflowing = player.page.locator(".player").evaluate(
            """root => [...root.querySelectorAll(
                   ".words li, .race li, .race .tile, .because, .changes li")]
                 .filter(e => e.scrollWidth > e.clientWidth + 3).map(e => e.textContent)"""
        )
        assert overflowing == []


def test_words_stay_in_their_cells_while_the_merges_of_their_scene_play(
    offline_page: Page, open_run: OpenRun
) -> None:
    offline_page.set_viewport_size({"width": 1280, "height": 900})
    player = open_run("sample", 2_500)
    title = player.page.locator(".player .words-part h2")
    cells_of: dict[str, list[tuple[int, int, int, int]]] = {}
    for step in [*range(2_501, 2_512), *range(2_510, 2_500, -1)]:
        player.go_to(f"{step}")
        player.expect_sentence(f"Next, merge {step:,}")
        cells = player.cells()
        assert cells_of.setdefault(title.inner_text(), cells) == cells
    assert len(cells_of) < 11  # at least one scene has several merges
