"""The life of every pair equals a recount of all pairs before each merge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus import NEVER
from bpe_core.trainers import PairLives, apply_merge, count_pairs, history
from bpe_core.trainers.history import count_changes, nearest_later_after, nearest_later_before
from bpe_core.types import Pair, TieBreak
from tests.strategies import training_configs, word_counts

TIE_BREAKS: tuple[TieBreak, ...] = ("smallest-pair", "first-seen")


def recounted(run: bpe.TrainingRun) -> list[dict[Pair, int]]:
    """Return the counts of all pairs that may merge, before each merge and after the last."""
    words: list[list[int]] = [[]]
    for id in run.layout_at(0).ids.tolist()[1:]:
        if id < 0:
            words.append([])
        else:
            words[-1].append(id)
    weights: list[int] = run.pretokens.counts.tolist()
    vocab, longest = run.tokenizer.vocab, run.config.max_token_bytes
    steps: list[dict[Pair, int]] = []
    for merge in (*run.merges, None):
        counts = count_pairs(words[:-1], weights)
        steps.append(
            {
                (left, right): count
                for (left, right), count in counts.items()
                if longest is None or len(vocab[left]) + len(vocab[right]) <= longest
            }
        )
        if merge is not None:
            words = [apply_merge(word, merge.pair, merge.id) for word in words]
    return steps


def check_every_life(run: bpe.TrainingRun) -> None:
    steps = recounted(run)
    lives = PairLives(run)
    for pair in {pair for counts in steps for pair in counts}:
        life = lives.find(pair)
        own = [counts.get(pair, 0) for counts in steps]
        assert life.counts.tolist() == own
        assert lives.count_steps(pair) == sum(map(bool, own))
        others = [[n for other, n in counts.items() if other != pair] for counts in steps]
        assert life.ranks.tolist() == [
            1 + sum(n > count for n in rest) if count else 0
            for count, rest in zip(own, others, strict=True)
        ]
        assert life.n_tied.tolist() == [
            sum(n == count for n in rest) if count else 0
            for count, rest in zip(own, others, strict=True)
        ]


def changes_recounted(run: bpe.TrainingRun) -> list[tuple[Pair, int, int]]:
    """Return each change of a pair's count, as (pair, step, change)."""
    steps = [{}, *recounted(run)]
    return sorted(
        (pair, step - 1, counts.get(pair, 0) - steps[step - 1].get(pair, 0))
        for step, counts in enumerate(steps)
        if step
        for pair in counts | steps[step - 1]
        if counts.get(pair, 0) != steps[step - 1].get(pair, 0)
    )


@given(word_counts, training_configs)
def test_changes_equal_those_found_by_recounting(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    codes, changes = count_changes(run)
    n_ids, n_steps = run.tokenizer.vocab_size, len(run.merges) + 1
    found = [
        (divmod(code // n_steps, n_ids), code % n_steps, change)
        for code, change in zip(codes.tolist(), changes.tolist(), strict=True)
    ]
    assert found == changes_recounted(run)


@given(st.lists(st.one_of(st.just(NEVER), st.integers(0, 9)), max_size=30))
def test_pointer_jumping_agrees_with_a_linear_search(between: list[int]) -> None:
    joined_at = [NEVER, *between, NEVER]

    def search(slot: int, direction: int) -> int:
        other = slot + direction
        while joined_at[other] < joined_at[slot]:
            other += direction
        return other

    array = np.array(joined_at, np.int32)
    before, after = nearest_later_before(array), nearest_later_after(array)
    for slot in np.flatnonzero(array < NEVER).tolist():
        assert (before[slot], after[slot]) == (search(slot, -1), search(slot, 1))


@given(word_counts, training_configs)
def test_every_life_equals_that_found_by_recounting(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    check_every_life(bpe.train(bpe.Corpus.from_word_counts(words), config))


@given(word_counts, training_configs)
def test_lives_are_the_same_if_the_row_is_processed_in_pieces(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "_SLOTS_AT_ONCE", 5)
        check_every_life(bpe.train(bpe.Corpus.from_word_counts(words), config))


@given(
    st.lists(st.text("ab", min_size=1, max_size=9), min_size=2, max_size=12),
    st.sampled_from(TIE_BREAKS),
)
def test_every_life_in_one_long_pretoken_equals_that_found_by_recounting(
    documents: list[str], tie_break: TieBreak
) -> None:
    config = bpe.TrainingConfig(
        vocab_size=60,
        pretokenizer="none",
        base="characters",
        alphabet="seen",
        special_tokens=(),
        tie_break=tie_break,
    )
    check_every_life(bpe.train(bpe.Corpus.from_documents(["".join(documents), *documents]), config))
