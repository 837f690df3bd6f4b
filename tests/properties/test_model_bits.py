"""The small model equals its plain Python version, has one size, and its figure can be trusted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.kernels.ngrams import NgramModel, reference_probabilities

documents = st.lists(st.lists(st.integers(4, 7), max_size=12), max_size=5)


@given(documents, st.lists(st.integers(3, 8), max_size=12))
def test_the_model_equals_plain_python(training: list[list[int]], text: list[int]):
    model = NgramModel(9, 1 << 23)
    for document in training:
        model.count(np.array([1, 1, *document, 2], np.int32))
    model.finish()
    found = model.probabilities(np.array([1, 1, *text, 2], np.int32))
    expected = reference_probabilities([[*each, 2] for each in training], [*text, 2], 9)
    assert found[2:].tolist() == pytest.approx(expected)


@given(documents, st.lists(st.integers(4, 7), max_size=3))
def test_the_probabilities_of_all_symbols_sum_to_one(training: list[list[int]], context: list[int]):
    for size in (8, 1 << 12):  # also where most counts had to be left out
        model = NgramModel(9, size)
        for document in training:
            model.count(np.array([1, 1, *document, 2], np.int32))
        model.finish()
        assert model.n_entries <= size * 3 // 4
        each = [
            model.probabilities(np.array([1, 1, *context, symbol], np.int32))[-1]
            for symbol in range(2, 9)
        ]
        assert sum(each) == pytest.approx(1)


def test_bits_are_those_of_the_model_in_plain_python():
    texts = ["the bare bytes", "the bytes", "bare"]
    tokenizer = bpe.train(texts, vocab_size=262).tokenizer
    found = bpe.bits_per_byte(tokenizer, texts, ["the bare byte", ""])
    rows = [[id + 4 for id in tokenizer.encode(text)] + [2] for text in texts]
    bits = [
        -math.log2(p)
        for text in ("the bare byte", "")
        for p in reference_probabilities(
            rows, [id + 4 for id in tokenizer.encode(text)] + [2], 262 + 4
        )
    ]
    assert found.bits_per_byte == pytest.approx(sum(bits) / len("the bare byte"))
    assert found.used == {id for text in texts for id in tokenizer.encode(text)}
    assert math.isnan(found.interval[0])  # of two documents


def test_text_without_a_token_costs_its_bytes():
    tokenizer = bpe.train(["hug hugs"], vocab_size=8, base="characters").tokenizer
    known, lost = (bpe.bits_per_byte(tokenizer, ["hug hugs"], [text]) for text in ("hug", "éé"))
    assert lost.by_unit[0] > known.by_unit[0] + 4 * 8


def test_word_counts_and_empty_texts_are_refused():
    words = bpe.Corpus.from_word_counts({"hug": 10})
    for training, held_out in ((words, ["a"]), (["a"], words)):
        with pytest.raises(bpe.ConfigError, match="no order"):
            bpe.bits_per_byte("gpt2", training, held_out)
    with pytest.raises(bpe.EmptyCorpusError):
        bpe.bits_per_byte("gpt2", ["a"], [])
