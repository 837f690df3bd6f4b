"""What the player draws is what training saw: compared with the core at many steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bpe_core.runs.run import TrainingRun
from bpe_core.trainers.base_vocabulary import symbols_of
from bpe_core.trainers.reference import encode_reference
from tests.browser.player import Player
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

pytestmark = pytest.mark.browser

STEPS = (0, 1, 45, 300, 1_234, 2_500, 3_838, 3_839)


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    return load_run(SAMPLE_RUN_ID).run


@pytest.fixture(scope="module")
def player(context: BrowserContext, app_url: str) -> Iterator[Player]:
    """The sample run on a page for all tests that go about in it, each from a place it goes to."""
    page = context.new_page()
    yield Player.open(page, f"{app_url}/merge_loop")
    page.close()


def symbols_before(run: TrainingRun, word: bytes, step: int) -> list[int]:
    """A word as training had it before a merge, by the reference."""
    merges = {merge.pair: merge for merge in run.merges[:step]}
    base_ids = run.tokenizer.base_ids
    base = [base_ids[symbol] for symbol in symbols_of(word, run.tokenizer.base)]
    return encode_reference(base, merges)


def go_to_step(player: Player, run: TrainingRun, step: int) -> None:
    if step < len(run.merges):
        player.go_to(str(step + 1))
    else:
        player.press("last")
    player.expect_step(step)
    player.expect_merges()


@pytest.mark.parametrize("mode", ["frequent", "touched"])
def test_words_stand_as_the_reference_merges_them(
    player: Player, run: TrainingRun, mode: str
) -> None:
    player.choose(mode)
    vocab = run.tokenizer.vocab
    for step in STEPS:
        go_to_step(player, run, step)
        words = player.words()
        assert words
        for ids in words:
            word = b"".join(vocab[id] for id in ids)
            if len(word) < 40:  # longer words are drawn by their beginning
                assert ids == symbols_before(run, word, step), (step, word)


def test_rings_stand_round_the_pair_that_merges_next(player: Player, run: TrainingRun) -> None:
    player.choose("touched")
    for step in STEPS[:-1]:
        go_to_step(player, run, step)
        ringed = player.ringed()
        assert ringed
        assert {tuple(pair) for pair in ringed} == {run.merges[step].pair}
    go_to_step(player, run, len(run.merges))
    assert player.ringed() == []


def test_the_race_shows_the_core_s_top_pairs(player: Player, run: TrainingRun) -> None:
    for step in STEPS:
        go_to_step(player, run, step)
        assert player.race() == [tuple(pair) for pair in run.top_pairs(step, 10)]


def test_the_reasons_are_those_of_the_trace(player: Player, run: TrainingRun) -> None:
    for step in (0, 45, 2_500):
        go_to_step(player, run, step)
        trace = run.trace(step, step + 1)
        others = int(trace.n_pairs[0] - trace.n_tied[0])
        because = player.page.locator(".player .because")
        expect(because).to_contain_text(f"{int(trace.top_count[0, 0]):,} times")
        expect(because).to_contain_text(f"{others:,}")
        rule = re.compile("the lower ids win")
        if trace.n_tied[0] > 1:
            expect(because).to_have_text(rule)
        else:
            expect(because).not_to_have_text(rule)
        words = player.page.locator(".player .n-words")
        expect(words).to_have_text(f"{int(trace.n_words[0]):,} of {len(run.pretokens.words):,}")
        overlaps = int(trace.n_overlapping[0])
        expect(player.page.locator(".player .overlaps")).to_have_text(
            f"{overlaps:,}" if overlaps else "none"
        )


def test_a_token_leads_to_the_merge_that_made_it(player: Player, run: TrainingRun) -> None:
    made = {run.tokenizer.vocab[merge.id]: merge.rank for merge in run.merges}
    problem = player.page.locator(".player .jump-problem")
    player.go_to("function")
    player.expect_step(made[b"function"])
    rank = made[b" function"]
    player.go_to(" function")
    player.expect_step(rank)
    player.expect_sentence(f"Next, merge {rank + 1:,}")
    for wanted, answer in [
        ("zyzzyva", "No merge made “zyzzyva”."),
        ("q", "“q” is a base symbol: no merge made it."),
        ("e", "“e” is a base symbol: no merge made it."),
        ("<|endoftext|>", "“<|endoftext|>” was there from the start: no merge made it."),
        ("99999", "Merges go from 1 to 3,839."),
        ("0", "Merges go from 1 to 3,839."),
        ("", "Type a number or a token."),
    ]:
        player.go_to(wanted)
        expect(problem).to_have_text(answer)
        player.expect_step(rank)


def test_the_heading_names_the_merges_whose_words_stand_there(player: Player) -> None:
    player.go_to("1,000")
    player.expect_merges()
    player.choose("touched")
    heading = player.page.locator(".player .words-part h2")
    expect(heading).to_contain_text("1,000")
    said = heading.inner_text()
    numbers = [int(n.replace(",", "")) for n in re.findall(r"[0-9,]+", said)]
    first, last = numbers[0], numbers[-1]
    assert first <= 1_000 <= last
    assert said == (
        f"Words of merges {first:,} to {last:,}" if first < last else f"Words of merge {last:,}"
    )
    assert player.words()
    player.choose("frequent")
    expect(heading).to_have_text("Words")


def test_own_words_are_cut_and_merged_as_the_tokenizer_does(
    page: Page, app_url: str, run: TrainingRun
) -> None:
    text = "don't understand 日本語 <script>"
    player = Player.open(page, f"{app_url}/merge_loop")
    player.choose("yours")
    page.locator(".player .own-words input").fill(text)
    expect(page.locator(".player .word")).to_have_count(7)
    go_to_step(player, run, 1_500)
    expected = [
        run.tokenizer.truncated(1_500).encode(pretoken)
        for pretoken in run.tokenizer.pretokenizer.split(text)
    ]
    assert player.words() == expected
    page.wait_for_url("**step=1500*")
    page.reload()
    expect(page.locator(".player .own-words input")).to_have_value(text)
    expect(page.locator(".player .word")).to_have_count(7)
    player.expect_step(1_500)
