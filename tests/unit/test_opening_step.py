"""A run opens at its first merge of letters that has a tie or a close race."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given

import bpe_core as bpe
from bpe_core.trainers.trace import CLOSE_RACE, has_letters
from bpe_core.types import Base
from tests.strategies import training_configs, word_counts
from ui.storage import SAMPLE_RUN_ID, load_run


def run_on(words: Mapping[str, int], n_merges: int, base: Base = "bytes") -> bpe.TrainingRun:
    config = bpe.TrainingConfig(
        256 + n_merges, base=base, pretokenizer="none", special_tokens=(), max_token_bytes=None
    )
    return bpe.train(bpe.Corpus.from_word_counts(dict(words)), config)


def expected_step(run: bpe.TrainingRun) -> int:
    """Find the step by counting all pairs at every step, without the trace."""
    of_letters = [m.rank for m in run.merges if has_letters(run.tokenizer, m.pair)]
    for step in of_letters:
        top = run.top_pairs(step, 2)
        runner_up = top[-1]
        is_close = len(top) == 2 and runner_up.count >= CLOSE_RACE * top[0].count
        if is_close and has_letters(run.tokenizer, (runner_up.left, runner_up.right)):
            return step
    return of_letters[0] if of_letters else 0


def test_the_sample_opens_at_a_race_of_two_pairs_of_letters() -> None:
    run = load_run(SAMPLE_RUN_ID).run
    step = run.opening_step
    assert step == expected_step(run)
    winner, runner_up = run.top_pairs(step, 2)
    spelled = [b"".join(run.tokenizer.vocab[id] for id in pair[:2]) for pair in (winner, runner_up)]
    assert spelled == [b"he", b"in"]
    assert (winner.count, runner_up.count) == (8_837, 8_833)


@given(word_counts, training_configs)
def test_any_run_opens_where_all_counts_say(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    assert run.opening_step == expected_step(run)


@pytest.mark.parametrize(("count", "step"), [(100, 0), (95, 0), (94, 2)])
def test_a_runner_up_of_95_percent_is_close(count: int, step: int) -> None:
    # The last two pairs tie, so the run opens at them if the first race is not close.
    words = {"ab": 100, "cd": count, "ef": 50, "gh": 50}
    assert run_on(words, 4).opening_step == step


@pytest.mark.parametrize(
    ("words", "n_merges"),
    [
        ({"  ": 90, "11": 89, "22": 88, "漢": 80, "字": 79, "ab": 9, "cd": 9}, 9),
        ({"ab": 100, "  ": 100, "cd": 9, "ef": 9}, 4),
    ],
    ids=["alone", "as runners-up"],
)
def test_white_space_digits_and_cut_characters_are_passed_over(
    words: dict[str, int], n_merges: int
) -> None:
    run = run_on(words, n_merges)
    assert run.merges[run.opening_step].count == 9


def test_the_search_ends_on_a_long_run_in_which_no_race_is_close() -> None:
    # Each pair is a sixth rarer than the one before, so the search goes through several parts.
    pairs = [one + other for one in "abcdefghij" for other in "ABCDEFGHIJ"]
    words = {pair: int(1.2 ** (150 - n)) for n, pair in enumerate(pairs)}
    run = run_on({"--": max(words.values()) + 1, **words}, 101)
    assert len(run.merges) == 101
    assert run.opening_step == 1
