"""The largest vocabulary size that Train announces is the one that training reaches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus import count_pretokens, load_sample, seen_symbols
from bpe_core.trainers import LargestSize, train_reference
from tests.strategies import texts, training_configs, word_counts

ENOUGH = 100_000


def largest(
    corpus: bpe.Corpus, config: bpe.TrainingConfig, max_slots: int | None = None
) -> LargestSize:
    pretokens = count_pretokens(corpus, bpe.get_pretokenizer(config.pretokenizer))
    return LargestSize.of(pretokens, config, seen_symbols(corpus, config.base), max_slots=max_slots)


@given(word_counts, training_configs, st.sampled_from([0, 2, 3, 7, 100, 2**41]))
def test_words_reach_the_exact_size_and_never_more_than_the_bound(
    words: dict[str, int], config: bpe.TrainingConfig, min_frequency: int
) -> None:
    config = replace(config, min_frequency=min_frequency)
    corpus = bpe.Corpus.from_word_counts(words)
    pretokens = count_pretokens(corpus, bpe.get_pretokenizer(config.pretokenizer))
    reference = train_reference(pretokens, replace(config, vocab_size=ENOUGH))
    assert reference.stop_reason != "vocab-size"
    assert largest(corpus, config) == LargestSize(len(reference.vocab), is_exact=True)
    bound = largest(corpus, config, max_slots=0)
    assert not bound.is_exact
    assert bound.size >= len(reference.vocab)


@given(texts, training_configs)
def test_a_text_reaches_the_exact_size_even_if_a_larger_one_is_asked_for(
    text: str, config: bpe.TrainingConfig
) -> None:
    try:
        corpus = bpe.Corpus.from_text(text)
        run = bpe.train(corpus, replace(config, vocab_size=ENOUGH))
    except bpe.EmptyCorpusError:
        return
    assert run.stop_reason != "vocab-size"
    assert largest(corpus, config).size == run.tokenizer.vocab_size
    assert largest(corpus, config, max_slots=0).size >= run.tokenizer.vocab_size


@pytest.mark.parametrize("sample", ["python-help", "multilingual", "notebook", "hug-words"])
@pytest.mark.parametrize("min_frequency", [0, 5])
def test_a_sample_reaches_the_exact_size(sample: str, min_frequency: int) -> None:
    corpus = load_sample(sample)
    config = bpe.TrainingConfig(ENOUGH, min_frequency=min_frequency)
    run = bpe.train(corpus, config)
    assert largest(corpus, config, max_slots=ENOUGH).size == run.tokenizer.vocab_size
    assert largest(corpus, config, max_slots=0).size >= run.tokenizer.vocab_size


def test_the_bound_counts_what_can_merge_at_most() -> None:
    # "aaaa" has three pairs but at most two merges, so the bound is one more than the exact size.
    corpus = bpe.Corpus.from_word_counts({"aaaa": 1, "abc": 7})
    config = bpe.TrainingConfig(special_tokens=())
    assert largest(corpus, config) == LargestSize(256 + 4, is_exact=True)
    assert largest(corpus, config, max_slots=0) == LargestSize(256 + 5, is_exact=False)
    rare = replace(config, min_frequency=8)
    assert largest(corpus, rare, max_slots=0) == LargestSize(256 + 4, is_exact=False)
    assert largest(corpus, rare) == LargestSize(256, is_exact=True)
