"""Continued training with kernels equals plain Python, forbidden pairs included."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given

import bpe_core as bpe
from bpe_core.corpus import Layout, count_pretokens
from bpe_core.kernels import compile_kernels
from bpe_core.trainers import ContinuedVocabulary, compiled, continued, incremental, reviving_tokens
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.run import lay_out_tokens
from bpe_core.types import TieBreak
from tests.extending import Case, cases


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    compile_kernels()


def learn_both(
    vocab: dict[int, bytes],
    layout: Layout,
    config: bpe.TrainingConfig,
    left_out: tuple[bytes, ...] = (),
    reviving: Collection[bytes] = (),
) -> list[LearnedMerges]:
    learned: list[LearnedMerges] = []
    tokens: list[list[bytes]] = []
    for trainer in (incremental, compiled):
        vocabulary = ContinuedVocabulary(vocab, left_out, reviving)
        used_up = Layout(layout.ids.copy(), layout.counts)
        learned.append(trainer.learn_merges(used_up, vocabulary, config, lambda *_: False))
        tokens.append(vocabulary.tokens)
    assert tokens[0] == tokens[1]
    return learned


def assert_alike(one: LearnedMerges, other: LearnedMerges) -> None:
    assert one.merges == other.merges
    assert one.counts == other.counts
    assert one.tokens_saved.tolist() == other.tokens_saved.tolist()
    assert one.joined_at.tolist() == other.joined_at.tolist()
    assert one.stop_reason == other.stop_reason


def for_kernels(case: Case) -> Case:
    """Return a case without terms and without Falcon's rule, which kernels are not asked for."""
    return replace(case, terms=(), base=case.base.with_changes(pretokenizer="none"))


def learn_case(case: Case) -> list[LearnedMerges]:
    pretokens = count_pretokens(
        bpe.Corpus.from_word_counts(case.words), bpe.get_pretokenizer("none")
    )
    config = bpe.TrainingConfig(
        case.base.vocab_size + case.n_tokens,
        min_frequency=case.min_frequency,
        tie_break=case.tie_break,
        max_token_bytes=case.max_token_bytes,
    )
    layout = lay_out_tokens(case.base, pretokens)
    reviving = reviving_tokens(case.base)
    return learn_both(dict(case.base.vocab), layout, config, case.left_out, reviving)


@given(cases.map(for_kernels))
def test_kernels_learn_what_both_twins_learn(case: Case) -> None:
    plain, fast = learn_case(case)
    assert_alike(plain, fast)
    naive = case.by_reference()
    assert fast.merges == [(merge.left, merge.right, merge.id) for merge in naive.merges]
    assert fast.counts == [merge.count for merge in naive.merges]
    assert fast.stop_reason == naive.stop_reason


@given(cases.map(for_kernels))
def test_equal_hashes_of_other_bytes_change_nothing(case: Case) -> None:
    # With this factor, words of the same letters have equal hashes.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(continued, "FACTOR", 1)
        plain, fast = learn_case(case)
    assert_alike(plain, fast)
    assert fast.merges == [(m.left, m.right, m.id) for m in case.by_reference().merges]


@pytest.mark.parametrize("tie_break", get_args(TieBreak))
def test_a_frequent_forbidden_pair_does_not_stop_the_others(tie_break: TieBreak) -> None:
    # Its count is far above the rest, so the row is counted again with ever lower thresholds.
    vocab = {0: b"a", 1: b"b", 2: b"c", 5: b"ab", 9: b"cab"}
    words = [[0, 1], [2, 0], [2, 0, 1], [1, 1, 1], [1, 0]]
    layout = Layout.of_words(words, [10**9, 10**6, 10**5, 100, 1])
    config = bpe.TrainingConfig(100, tie_break=tie_break)
    plain, fast = learn_both(vocab, layout, config)
    assert_alike(plain, fast)
    assert [merge[:2] for merge in fast.merges] == [(2, 0), (1, 1), (11, 1), (1, 0)]
    assert fast.stop_reason == "no-pairs"


@pytest.mark.parametrize("tie_break", get_args(TieBreak))
@pytest.mark.parametrize("unit", ["a", "tokenizer", "ing ", " "])
def test_long_runs_are_extended_alike(unit: str, tie_break: TieBreak) -> None:
    words = (unit.encode() * 999, unit.encode() * 77 + b"a")
    pretokens = count_pretokens(
        bpe.Corpus.from_word_counts({word.decode(): n for n, word in enumerate(words, 1)}),
        bpe.get_pretokenizer("none"),
    )
    layout = Layout.of_tokens(pretokens, *bpe.gpt2().encoder.encode_words(words))
    config = bpe.TrainingConfig(bpe.gpt2().vocab_size + 40, tie_break=tie_break)
    assert_alike(*learn_both(dict(bpe.gpt2().vocab), layout, config))
