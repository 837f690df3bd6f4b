"""The player's drawing matches the core at every step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bpe_core.runs.run import TrainingRun
from bpe_core.trainers.base_vocabulary import split_symbols
from bpe_core.trainers.reference import encode_reference
from tests.browser.player import Player
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

STEPS = (0, 300, 3_839)


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    return load_run(SAMPLE_RUN_ID).run


@pytest.fixture(scope="module")
def player(context: BrowserContext, app_url: str) -> Iterator[Player]:
    """Open the sample run once for several tests, each of which moves to a step first."""
    page = context.new_page()
    yield Player.open(page, f"{app_url}/merge_loop")
    page.close()


def symbols_before(run: TrainingRun, word: bytes, step: int) -> list[int]:
    """Return a word as it stood before a merge, computed by the reference."""
    merges = {merge.pair: merge for merge in run.merges[:step]}
    base_ids = run.tokenizer.base_ids
    base = [base_ids[symbol] for symbol in split_symbols(word, run.tokenizer.base)]
    return encode_reference(base, merges)


def go_to_step(player: Player, run: TrainingRun, step: int) -> None:
    if step < len(run.merges):
        player.go_to(str(step + 1))
    else:
        player.press("last")
    player.expect_step(step)
    player.expect_merges()


def test_words_and_race_match_the_core_with_the_next_pair_ringed(
    player: Player, run: TrainingRun
) -> None:
    player.choose("touched")
    vocab = run.tokenizer.vocab
    for step in STEPS:
        go_to_step(player, run, step)
        words = player.words()
        assert words
        for ids in words:
            word = b"".join(vocab[id] for id in ids)
            if len(word) < 40:  # only the beginning of a longer word is drawn
                assert ids == symbols_before(run, word, step), (step, word)
        next_pair = [run.merges[step].pair] if step < len(run.merges) else []
        assert {tuple(pair) for pair in player.ringed()} == set(next_pair)
        assert player.race() == [tuple(pair) for pair in run.top_pairs(step, 10)]


def test_typing_a_token_goes_to_the_merge_that_made_it(player: Player, run: TrainingRun) -> None:
    made = {run.tokenizer.vocab[merge.id]: merge.rank for merge in run.merges}
    problem = player.page.locator(".player .jump-problem")
    player.go_to("function")
    player.expect_step(made[b"function"])
    rank = made[b" function"]
    player.go_to(" function")
    player.expect_step(rank)
    player.expect_sentence(f"Next, merge {rank + 1:,}")
    player.go_to("zyzzyva")
    expect(problem).to_have_text("No merge made “zyzzyva”.")
    player.expect_step(rank)


def test_own_words_are_split_and_merged_as_by_the_tokenizer(
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
