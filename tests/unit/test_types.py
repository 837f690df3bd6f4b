"""Values that hold arrays compare by their contents."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.types import PretokenCounts, TrainingSettings

WORDS = (b"hug", b"hugs")


def pretokens(*counts: int) -> PretokenCounts:
    return PretokenCounts(WORDS, np.array(counts, np.int64))


@pytest.fixture(scope="module")
def trace() -> bpe.MergeTrace:
    run = bpe.train(bpe.Corpus.from_text("hug hugs pug bugs"), bpe.TrainingConfig(vocab_size=262))
    return run.trace(0, 4)


def test_the_keyword_arguments_of_train_are_the_fields_of_its_configuration() -> None:
    expected = {field.name: field.type for field in fields(bpe.TrainingConfig)}
    given = TrainingSettings.__annotations__.items()
    annotations = {name: reference.__forward_arg__ for name, reference in given}
    assert annotations == expected


def test_pretoken_counts_with_the_same_words_and_counts_are_equal() -> None:
    assert pretokens(3, 1) == pretokens(3, 1)
    assert pretokens(3, 1) in [pretokens(2, 1), pretokens(3, 1)]


@pytest.mark.parametrize(
    "other",
    [
        pretokens(3, 2),
        PretokenCounts((b"hug", b"pugs"), np.array([3, 1])),
        PretokenCounts((b"hug", b"hugs\0"), np.array([3, 1])),
        PretokenCounts((b"hug",), np.array([3])),
        (WORDS, np.array([3, 1])),
        None,
    ],
    ids=["a count", "a word", "a zero byte", "fewer words", "a tuple", "None"],
)
def test_pretoken_counts_differ_from_anything_else(other: object) -> None:
    assert pretokens(3, 1) != other
    assert other != pretokens(3, 1)


@pytest.mark.parametrize("words", [(), (b"",), WORDS, ("é".encode(), b"", b"\0")], ids=repr)
def test_words_and_their_letters_are_two_forms_of_the_same_counts(words: tuple[bytes, ...]) -> None:
    given = PretokenCounts(words, np.arange(1, len(words) + 1))
    assert given.letters.tobytes() == b"".join(word + b"\xff" for word in words)
    assert not given.letters.flags.writeable
    packed = PretokenCounts.of_letters(given.letters, given.counts)
    assert (packed.words, packed.n_words) == (words, len(words))
    assert packed == given
    for counts in (given, packed):
        assert pickle.loads(pickle.dumps(counts)) == counts  # noqa: S301 - its own


def test_words_that_are_no_utf_8_have_no_letters() -> None:
    counts = PretokenCounts((b"hug", b"\xffs"), np.array([3, 1]))
    with pytest.raises(ValueError, match="0xFF"):
        _ = counts.letters


def test_each_word_needs_a_count() -> None:
    with pytest.raises(ValueError, match="Expected 2 counts, one a word, got 1"):
        pretokens(3)


def test_traces_are_equal_until_one_of_their_arrays_differs(trace: bpe.MergeTrace) -> None:
    assert trace == replace(trace)
    for field in fields(trace):
        changed = getattr(trace, field.name) + 1
        if np.size(changed):
            assert trace != replace(trace, **{field.name: changed}), field.name
