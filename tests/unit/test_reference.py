"""The reference trainer and encoder, step by step, on words short enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.reference import (
    apply_merge,
    choose_pair,
    count_pairs,
    encode_reference,
    train_reference,
)
from bpe_core.types import Merge, PretokenCounts, TrainingConfig


def pretokens(word_counts: dict[str, int]) -> PretokenCounts:
    counts = np.array(list(word_counts.values()), dtype=np.int64)
    return PretokenCounts(tuple(word.encode() for word in word_counts), counts)


def characters(vocab_size: int, **fields: object) -> TrainingConfig:
    settings = {"base": "characters", "special_tokens": (), **fields}
    return TrainingConfig(vocab_size, **settings)  # pyright: ignore[reportArgumentType]


def test_overlapping_pairs_are_all_counted_but_merged_once() -> None:
    assert count_pairs([[0, 0, 0, 0]], [5]) == {(0, 0): 15}
    assert apply_merge([0, 0, 0, 0], (0, 0), 1) == [1, 1]
    assert apply_merge([0, 0, 0], (0, 0), 1) == [1, 0]


def test_pairs_are_listed_in_the_order_they_are_first_seen() -> None:
    assert list(count_pairs([[2, 1], [0, 2, 1]], [1, 1])) == [(2, 1), (0, 2)]


@pytest.mark.parametrize("hostile", [",", "\0", "|||", "\t", " ", "·", "</w>", "a b", "\u202e"])
def test_text_that_looks_like_a_separator_is_ordinary_text(hostile: str) -> None:
    word = f"x{hostile}x{hostile}y"
    run = train_reference(pretokens({word: 3}), characters(100, end_of_word="</w>"))
    assert run.splits == [[run.merges[-1].id]]
    assert run.vocab[run.merges[-1].id] == word.encode() + b"</w>"


def test_the_marker_and_a_text_that_spells_it_are_different_tokens() -> None:
    words = pretokens({"</w>": 9, "x": 5, "x</w>a": 9, "x</w>b": 9})
    run = train_reference(words, characters(100, end_of_word="</w>"))
    assert [*run.vocab.values()].count(b"</w>") == [*run.vocab.values()].count(b"x</w>") == 2
    assert len(run.vocab) == len(run.base_ids) + 1 + len(run.merges)
    assert all(len(split) == 1 for split in run.splits)
    assert len({split[0] for split in run.splits}) == 4


def test_characters_are_sorted_by_code_point_with_the_marker_last() -> None:
    run = train_reference(pretokens({"é你a😀": 1}), characters(5, end_of_word="</w>"))
    assert [token.decode() for token in run.vocab.values()] == ["a", "é", "你", "😀", "</w>"]


def test_a_seen_alphabet_holds_symbols_that_only_the_documents_have() -> None:
    run = train_reference(pretokens({"ab": 1}), characters(3), [b"a", b"b", b" "])
    assert list(run.base_ids) == [b" ", b"a", b"b"]


def test_each_tie_rule_chooses_the_right_pair() -> None:
    counts = {(9, 9): 1, (5, 6): 3, (5, 2): 3, (1, 7): 3}
    assert choose_pair(counts, "smallest-pair") == (1, 7)
    assert choose_pair(counts, "first-seen") == (5, 6)


def test_no_token_exceeds_the_maximum_length() -> None:
    run = train_reference(pretokens({"aaaaaaaa": 4}), characters(100, max_token_bytes=3))
    assert max(len(token) for token in run.vocab.values()) == 2
    assert run.stop_reason == "no-pairs"


def test_encoding_applies_the_earliest_learned_merge_first() -> None:
    merges = {(1, 2): Merge(0, 1, 2, 3), (0, 1): Merge(1, 0, 1, 4), (0, 3): Merge(2, 0, 3, 5)}
    assert encode_reference([0, 1, 2], merges) == [5]
    assert encode_reference([], merges) == []


def test_a_second_spelling_of_a_token_reuses_its_id() -> None:
    vocabulary = GrowingVocabulary(characters(100), [b"a", b"b", b"c"])
    ab, bc = vocabulary.join(0, 1), vocabulary.join(1, 2)
    assert vocabulary.join(ab, 2) == vocabulary.join(0, bc)
    assert len(vocabulary) == 6
