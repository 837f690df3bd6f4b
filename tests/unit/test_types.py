"""Values that hold arrays compare by their contents."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, replace
from inspect import signature
from typing import Any

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
    parameters = signature(bpe.TrainingConfig).parameters.values()
    expected = {parameter.name: parameter.annotation for parameter in parameters}
    given = TrainingSettings.__annotations__.items()
    annotations = {name: reference.__forward_arg__ for name, reference in given}
    assert annotations == expected


LLAMA: dict[str, Any] = {"pretokenizer": "metaspace", "alphabet": bpe.Characters(coverage=0.9)}
OLDER: dict[str, Any] = {"base": "characters", "byte_fallback": True, "character_coverage": 0.9}


@pytest.mark.parametrize(
    ("older", "alphabet"),
    [
        ({}, "bytes"),
        ({"alphabet": "full"}, "bytes"),
        ({"base": "bytes", "alphabet": "seen"}, "seen"),
        ({"base": "characters"}, "characters"),
        ({"base": "characters", "alphabet": "seen"}, "characters"),
        ({"base": "characters", "byte_fallback": True}, bpe.Characters()),
        ({"alphabet": "characters", "character_coverage": 1}, "characters"),
        (OLDER, bpe.Characters(coverage=0.9)),
        (OLDER | {"alphabet": "seen"}, bpe.Characters(coverage=0.9)),
    ],
)
def test_older_settings_of_a_training_give_an_alphabet(
    older: dict[str, Any], alphabet: str | bpe.Characters
) -> None:
    config = bpe.TrainingConfig(**older)
    assert config.alphabet == alphabet
    assert config == bpe.TrainingConfig(alphabet=alphabet)  # pyright: ignore[reportArgumentType]
    # What a file holds has the names that every version reads.
    stored = json.loads(json.dumps(config.to_dict()))
    assert stored["alphabet"] in ("full", "seen")
    special = tuple(stored["special_tokens"])
    assert bpe.TrainingConfig(**{**stored, "special_tokens": special}) == replace(
        config, seeds=[], vetoes=[]
    )


def test_an_alphabet_is_changed_by_older_settings_and_by_newer_ones() -> None:
    llama = bpe.TrainingConfig(**LLAMA)
    without = replace(llama, byte_fallback=False, character_coverage=1.0)
    assert without.alphabet == "characters"
    assert replace(without, character_coverage=1).alphabet == "characters"
    assert replace(llama, character_coverage=0.5).alphabet == bpe.Characters(coverage=0.5)
    assert replace(llama, alphabet="bytes").alphabet == "bytes"
    assert replace(llama, vocab_size=9).alphabet == llama.alphabet
    with pytest.raises(bpe.ConfigError, match="the base is 'bytes'"):
        replace(llama, base="bytes")


def test_an_alphabet_of_characters_trains_as_the_older_settings_do() -> None:
    corpus, special = bpe.Corpus.from_text("hug hugs é"), ("<unk>",)
    new = bpe.train(corpus, vocab_size=270, special_tokens=special, **LLAMA)
    old = bpe.train(
        corpus, vocab_size=270, special_tokens=special, pretokenizer="metaspace", **OLDER
    )
    assert new.tokenizer == old.tokenizer
    assert new.config == old.config


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
