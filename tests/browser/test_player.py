"""The player in saved replays: its controls, odd runs, guesses, hostile text, and axe’s rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

import bpe_core as bpe
from bpe_core.trainers import TrainingRun
from bpe_core.types import Pair
from tests.browser.helpers import download, go_to_address
from tests.browser.player import Player, saved_replay
from tests.browser.runs_to_play import run_to_play
from tests.browser.test_accessibility import SCHEMES, broken_rules
from tests.recounting import Recount, train_with_ties

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


def test_borders_between_words_open_where_merges_may_join_words(
    offline_page: Page, tmp_path: Path
) -> None:
    run = bpe.train(
        ["by the way by the sea by the hill\n" * 20], vocab_size=290, superwords_from=275
    )
    player = Player.on(offline_page, saved_replay(run, tmp_path, "Superwords"))
    player.choose("frequent")
    words = offline_page.locator(".player .words")
    expect(words).to_have_class(re.compile(r"\bclosed\b"))
    expect(words.locator(".begins-word").first).to_be_visible()
    expect(words.locator(".superword")).to_have_count(0)
    player.expect_sentence("times in the text")
    expect(offline_page.locator(".player .note")).to_contain_text("A double line below marks")
    player.go_to(f"{len(run.merges)}")
    player.expect_step(len(run.merges) - 1)
    expect(words).not_to_have_class(re.compile(r"\bclosed\b"))
    expect(words.locator(".superword").first).to_be_visible()


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
    offline_page.keyboard.press("ArrowRight")  # the page is the player's alone
    player.expect_step(1)
    offline_page.keyboard.press("ArrowLeft")
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


TIED_STEP = 12


def spoken(run: TrainingRun, ids: list[int] | Pair) -> str:
    return ", ".join(run.tokenizer.vocab[id].decode() for id in ids)


def said(element: Locator) -> str:
    return " ".join((element.text_content() or "").split())


def test_the_card_of_a_tie_matches_a_recount(offline_page: Page, tmp_path: Path) -> None:
    run = train_with_ties("smallest-pair")
    player = Player.on(offline_page, saved_replay(run, tmp_path, title="reasons"))
    card = offline_page.locator(".player .why")
    offline_page.locator(".player .ties").evaluate("ties => { ties.open = true; }")
    player.go_to(f"{TIED_STEP + 1}")
    player.expect_step(TIED_STEP)
    recount = Recount.of(run, TIED_STEP)
    tied = recount.tied("smallest-pair")
    assert len(tied) > 1
    assert said(card.locator(".occurrences")) == f"{recount.count:,}"
    assert "The tie rule decides" in said(card.locator(".because"))
    rows = card.locator(".tie-list li").evaluate_all("all => all.map(e => e.firstChild.ariaLabel)")
    assert rows == [spoken(run, pair) for pair in tied]
    assert said(card.locator(".margin")).startswith("0 ties with ")
    n_given, n_words = len(recount.given), len(run.pretokens.words)
    assert said(card.locator(".n-words")) == f"{n_given:,} of {n_words:,}"
    assert said(card.locator(".overlaps")) == f"{recount.n_overlapping or 'none'}"
    given = card.locator(".gave li")
    for row, (wanted, word) in zip(given.all(), recount.given[:3], strict=True):
        assert said(row.locator("> :last-child")).split("= ")[-1] == f"{wanted:,}"
        assert row.locator(".given").get_attribute("aria-label") == spoken(run, word)
    for name, sign, mark in (("risen", 1, "+"), ("fallen", -1, "−")):
        listed = card.locator(f".{name} li").all_inner_texts()
        moved = [f"{mark}{by:,}" for by, _ in recount.moved(sign)]
        assert [row.split()[-1] for row in listed] == (moved or ["none"])


HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'


def test_the_button_saves_a_file_that_plays_to_the_end_offline(
    tab: Page, offline_page: Page, tmp_path: Path
) -> None:
    go_to_address(tab, "/merge_loop?step=3836&words=don%27t")
    expect(tab.locator(".player .position b")).to_have_text("3,836")
    saved = download(tab, "Save as a replay")
    file = tmp_path / saved.suggested_filename
    saved.save_as(file)
    player = Player.on(offline_page, file.as_uri())
    player.expect_step(3_836)
    player.choose("yours")
    expect(offline_page.locator(".player .word")).to_have_count(2)
    player.choose("8")
    player.press("play")
    player.expect_step(3_839)
    player.expect_playing(False)
    player.expect_sentence("It stopped because the vocabulary reached 4,096.")
    player.press("first")
    player.expect_step(0)


def test_markup_in_a_saved_run_is_text(offline_page: Page, tmp_path: Path) -> None:
    corpus = bpe.Corpus.from_text(" ".join([HOSTILE, "\x00", "🧩</w>"] * 4))
    run = bpe.train(corpus, bpe.TrainingConfig(400, pretokenizer="whitespace"))
    player = Player.on(offline_page, saved_replay(run, tmp_path, title=HOSTILE, text=HOSTILE))
    expect(offline_page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    player.press("last")
    expect(offline_page.locator(".player .words")).to_contain_text("<script>")
    player.press("back")
    player.choose("yours")
    player.press("last")
    expect(offline_page.locator(".player .words")).to_be_visible()
    expect(offline_page.locator(".player .words")).to_contain_text("onerror=")
    player.go_to(HOSTILE)
    expect(offline_page.locator(".player .jump-problem")).not_to_be_empty()
    assert offline_page.evaluate("window.hacked") is None
    assert offline_page.locator("img, .words script").count() == 0


def still_broken_rules(page: Page) -> list[str]:
    """Return the rules that are broken once colours no longer change."""
    page.wait_for_function("() => document.getAnimations().length === 0")
    return broken_rules(page)


@pytest.fixture(scope="module")
def odd_replay(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a odd_replay with words of many kinds and a visitor's own words."""
    text = "hug hugs pug \u202eabc 日本 aaaa"
    run = bpe.train(bpe.Corpus.from_text(f"{text} {text}"), bpe.TrainingConfig(270))
    folder = tmp_path_factory.mktemp("odd_replay")
    return saved_replay(run, folder, title="Words", text="hug \x00 </w>")


@pytest.mark.parametrize(("scheme", "width"), SCHEMES)
def test_questions_answers_own_words_and_the_end_are_accessible(
    offline_page: Page, odd_replay: str, scheme: Literal["light", "dark"], width: int
) -> None:
    offline_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    offline_page.set_viewport_size({"width": width, "height": 900})
    player = Player.on(offline_page, odd_replay)
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


# The headings under which each list of words was seen, frame by frame.
RECORD_HEADINGS = """(player) => {
  const headings = (globalThis.headings = {});
  (function frame() {
    const words = player.querySelector(".words").textContent;
    (headings[words] ??= new Set()).add(player.querySelector(".words-part h2").textContent);
    requestAnimationFrame(frame);
  })();
}"""


def test_the_heading_names_the_merges_whose_words_are_shown(open_run: OpenRun) -> None:
    player = open_run("sample", 3)
    player.choose("touched")
    player.page.locator(".player").evaluate(RECORD_HEADINGS)
    player.press("play")
    player.page.wait_for_function("() => Object.keys(globalThis.headings).length > 3")
    player.press("play")
    seen = player.page.evaluate("Object.values(globalThis.headings).map((of) => [...of])")
    assert [len(of_words) for of_words in seen] == [1] * len(seen)
    assert {"Words of merge 4", "Words of merge 5"} < {heading for (heading,) in seen}
