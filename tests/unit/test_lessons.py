"""Test the lessons' computations, and that the code they show is the code that runs."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given

import bpe_core as bpe
from bpe_core.trainers import reference
from tests.strategies import plain_configs, word_counts
from ui.lessons.printing import format_sum, format_token, printed
from ui.lessons.questions import choose_most_frequent, choose_number
from ui.lessons.source_code import source_lines
from ui.lessons.walk import walk

HUGS = {"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3}
CHARACTERS = bpe.TrainingConfig(50, base="characters", end_of_word="</w>", special_tokens=())


@given(word_counts, plain_configs)
def test_a_walk_agrees_with_the_trainer_at_every_step(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    walked = walk(words, config)
    assert list(walked.merges) == list(run.merges)
    assert walked.n_start == len(run.tokenizer.vocab) - len({merge.id for merge in run.merges})
    for step in {0, 1, len(run.merges) // 2, len(run.merges)}:
        if step <= len(run.merges):
            assert walked.pair_counts_at(step) == run.pair_counts(step)


@given(word_counts, plain_configs)
def test_the_terms_of_a_pair_add_up_to_its_count(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    for pair, count in walked.pair_counts_at(0).items():
        assert sum(term.times * term.count for term in walked.terms(0, pair)) == count


@given(word_counts, plain_configs)
def test_encoding_step_by_step_ends_with_the_ids_of_the_reference(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    for start in walked.starts:
        steps = walked.encoding_steps(start)
        assert (steps[-1][1] if steps else list(start)) == walked.encode(start)


def test_encoding_a_word_with_an_unknown_symbol_is_refused() -> None:
    assert walk(HUGS, CHARACTERS).base_symbols("bug") is None
    assert walk(HUGS, CHARACTERS).base_symbols("gug") == [0, 4, 0, 5]


def test_training_on_no_words_is_refused() -> None:
    with pytest.raises(bpe.EmptyCorpusError, match="There are no words to learn from"):
        walk({}, CHARACTERS)


@given(word_counts, plain_configs)
def test_the_rules_for_ties_agree_before_the_first_split(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    split = walked.first_split()
    for step in range(len(walked.merges) if split is None else split + 1):
        counts = walked.pair_counts_at(step)
        chosen = {reference.choose_pair(counts, rule) for rule in ("first-seen", "smallest-pair")}
        assert (len(chosen) == 2) == (step == split)


@given(word_counts, plain_configs)
def test_every_pair_as_frequent_as_the_winner_is_a_right_answer(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    asked = choose_most_frequent("Which?", walked, "")
    counts = walked.pair_counts_at(0)
    assert (asked is None) == (len(counts) < 2)
    if asked is not None:
        n_tied = sum(count == max(counts.values()) for count in counts.values())
        assert 1 <= len(asked.right) <= min(n_tied, len(asked.options))
        assert len(asked.options) == min(4, len(counts))


@pytest.mark.parametrize(
    ("right", "others", "options"),
    [
        (3, [1, 2, 9], "1 2 3 9"),
        (3, [3, 3], "3 4 5"),
        (0, [-1, 5], "0 1 2 5"),
        (1_000, [], "1,000 1,001 1,002"),
    ],
)
def test_numbers_to_choose_from_are_distinct_and_in_order(
    right: int, others: list[int], options: str
) -> None:
    asked = choose_number("How many?", right, others, "")
    assert " ".join(option.text for option in asked.options) == options
    assert [asked.options[place].text for place in asked.right] == [f"{right:,}"]


def test_a_sum_names_the_words_that_contribute_to_it() -> None:
    hugs = walk(HUGS, CHARACTERS)
    pair = hugs.find_pair("g", "g")
    assert pair is not None
    assert format_sum(hugs, pair) == "(g, g): ugg 5 + ggi 3 = 8"
    assert format_sum(hugs, hugs.merges[0].pair) == "(g, </w>): hug 10 + ugg 5 + ing 3 = 18"
    twice = walk({"ggg": 4}, CHARACTERS)
    pair = twice.find_pair("g", "g")
    assert pair is not None
    assert format_sum(twice, pair) == "(g, g): ggg 2 × 4 = 8"


@pytest.mark.parametrize(
    "function",
    [
        reference.count_words,
        reference.count_pairs,
        reference.choose_pair,
        reference.apply_merge,
        reference.learn_merges,
        reference.encode_reference,
    ],
)
def test_the_code_shown_is_the_source_without_the_doctests(function: object) -> None:
    shown = source_lines(function)  # pyright: ignore[reportArgumentType]
    lines = ["".join(text for text, _ in line) for line in shown.lines]
    source = inspect.getsource(function).rstrip("\n").split("\n")  # pyright: ignore[reportArgumentType]
    start = next(row for row, line in enumerate(source) if not line.strip())
    n_left_out = len(source) - len(lines)
    assert ">>> " in source[start + 1]
    assert lines == [*source[:start], *source[start + n_left_out :]]
    assert not any(">>>" in line for line in lines)
    assert shown.path == "bpe_core/trainers/reference.py"


def test_printed_values_spell_out_ids_and_are_short() -> None:
    vocab = {0: b"u", 1: b"g", 2: b"\xc3", 3: "\u202e".encode()}
    assert printed([(0, 1), (2, 3)], vocab) == r"[('u', 'g'), (b'\xc3', '\u202e')]"
    long = printed({(0, 1): {n: n for n in range(99)}})
    assert len(long.split("\n")) == 14
    assert long.endswith("more lines")
    assert format_token(b" the") == "␣the"
