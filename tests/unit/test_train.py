"""Training as callers use it, and the reference trainer."""

from __future__ import annotations

import threading
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.corpus import stream_corpus
from bpe_core.tokenizer import TokenTable
from bpe_core.trainers import (
    GrowingVocabulary,
    apply_merge,
    choose_pair,
    count_pairs,
    encode_reference,
    train_reference,
)
from bpe_core.types import Base, Merge, PretokenCounts, TrainingConfig
from tests.table_parts import TABLE_PARTS

CORPUS = bpe.Corpus.from_documents(
    [f"the {word}s and the {word} {n}\n" for n in range(40) for word in ("hug", "pug", "bun")]
)
CONFIG = bpe.TrainingConfig(300)
LLAMA = {"base": "characters", "byte_fallback": True, "pretokenizer": "metaspace"}
LLAMA_CONFIG = bpe.TrainingConfig(
    256, base="characters", byte_fallback=True, pretokenizer="metaspace"
)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"base": "letters"}, "base is 'letters'"),
        ({"alphabet": "half"}, "alphabet is 'half'"),
        ({"tie_break": "random"}, "tie_break is 'random'"),
        ({"vocab_size": 0}, r"vocab_size .* got 0 \(int\)"),
        ({"vocab_size": 2**31}, "vocab_size .* to 2,147,483,647, got 2147483648"),
        ({"vocab_size": 300.0}, r"vocab_size .* got 300\.0 \(float\)"),
        ({"min_frequency": -1}, r"min_frequency .* got -1 \(int\)"),
        ({"max_token_bytes": 0}, r"max_token_bytes .* got 0 \(int\)"),
        ({"special_tokens": "<s>"}, "special_tokens as a tuple of str"),
        ({"special_tokens": (1,)}, "special_tokens as a tuple of str"),
        ({"special_tokens": ("",)}, "special token is empty"),
        ({"special_tokens": ("<a>", "<b>", "<a>")}, "'<a>' is given twice"),
        ({"special_tokens": ("\ud800",)}, "lone surrogate at character 0"),
        ({"end_of_word": ""}, "end-of-word marker is empty"),
        ({"end_of_word": "</w>", "special_tokens": ("</w>",)}, "both a special token and"),
        ({"pretokenizer": "bert"}, "bert"),
        ({"character_coverage": 0.5}, "no token would spell the other characters"),
        ({"byte_fallback": True}, "byte_fallback needs the pre-tokenizer metaspace"),
        ({"pretokenizer": "metaspace"}, "The pre-tokenizer metaspace needs alphabet=Characters"),
        ({**LLAMA, "base": "bytes"}, "the base is 'bytes'"),
        (
            {"alphabet": bpe.Characters()},
            r"Characters\(\) needs the pre-tokenizer metaspace or llama2",
        ),
        ({**LLAMA, "end_of_word": "</w>"}, "'</w>', do not go together"),
        ({**LLAMA, "byte_fallback": 1}, r"byte_fallback is 1 \(int\)"),
        ({**LLAMA, "character_coverage": 0}, "character_coverage is 0.0"),
        ({**LLAMA, "character_coverage": 1.5}, "character_coverage is 1.5"),
        ({**LLAMA, "character_coverage": -0.1}, "character_coverage is -0.1"),
        ({**LLAMA, "character_coverage": float("nan")}, "character_coverage is nan"),
        ({**LLAMA, "character_coverage": "all"}, r"character_coverage is 'all' \(str\)"),
    ],
)
def test_the_error_for_an_invalid_field_names_it(changes: dict[str, object], says: str) -> None:
    with pytest.raises(bpe.ConfigError, match=says):
        bpe.train(CORPUS, replace(CONFIG, **changes))  # pyright: ignore[reportArgumentType]


def test_the_error_for_a_small_vocabulary_states_the_minimum() -> None:
    with pytest.raises(bpe.VocabularyTooSmallError, match=r"256 bytes \+ 1 special token = 257"):
        bpe.train(CORPUS, replace(CONFIG, vocab_size=256))
    with pytest.raises(
        bpe.VocabularyTooSmallError, match=r"0 characters \+ 256 bytes \+ 1 special"
    ):
        bpe.train(CORPUS, LLAMA_CONFIG)
    assert bpe.train(CORPUS, replace(CONFIG, vocab_size=257)).merges == ()


def test_a_corpus_without_pretokens_is_refused() -> None:
    with pytest.raises(bpe.EmptyCorpusError, match="whitespace finds no pre-token"):
        bpe.train(bpe.Corpus.from_text(" \n "), replace(CONFIG, pretokenizer="whitespace"))


def test_the_minimum_frequency_can_be_as_large_as_a_count() -> None:
    corpus = bpe.Corpus.from_word_counts({"hug": 10**12, "ugg": 10**11})
    run = bpe.train(corpus, replace(CONFIG, vocab_size=300, min_frequency=10**12))
    assert [merge.count for merge in run.merges] == [11 * 10**11, 10**12]
    assert run.stop_reason == "min-frequency"
    with pytest.raises(bpe.ConfigError, match="from 0 to 9,223,372,036,854,775,807"):
        bpe.train(corpus, replace(CONFIG, min_frequency=2**63))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "vocab-size"),
        ({"vocab_size": 10_000}, "no-pairs"),
        ({"vocab_size": 10_000, "min_frequency": 50}, "min-frequency"),
    ],
)
def test_a_run_has_a_stop_reason(changes: dict[str, object], reason: str) -> None:
    run = bpe.train(CORPUS, replace(CONFIG, **changes))  # pyright: ignore[reportArgumentType]
    assert run.stop_reason == reason
    assert (run.tokenizer.vocab_size == run.config.vocab_size) == (reason == "vocab-size")
    assert all((merge.count or 0) >= run.config.min_frequency for merge in run.merges)


@pytest.mark.parametrize("document", ["a", "\n", "😀", "aaaaaaaaaa", "a" * 50_000, "\0\ufeff|||,"])
def test_training_on_degenerate_documents_completes(document: str) -> None:
    run = bpe.train(bpe.Corpus.from_text(document), replace(CONFIG, vocab_size=400))
    assert run.tokenizer.decode(run.tokenizer.encode(document)) == document
    assert len(run.tokenizer.encode(document)) == run.tokens_after[-1]


def test_progress_starts_at_zero_merges_and_ends_with_the_run() -> None:
    seen: list[bpe.TrainingProgress] = []
    run = bpe.train(CORPUS, replace(CONFIG, vocab_size=400, min_frequency=0), seen.append)
    assert [report.merges_done for report in seen] == sorted(report.merges_done for report in seen)
    assert (seen[0].merges_done, seen[0].corpus_tokens) == (0, run.tokens_after[0])
    assert (seen[-1].merges_done, seen[-1].last_count) == (len(run.merges), run.merges[-1].count)
    for report in seen:
        assert report.corpus_tokens == run.tokens_after[report.merges_done]
        assert report.merges_wanted == 400 - 257


def test_the_arrays_of_a_run_are_read_only() -> None:
    run = bpe.train(CORPUS, CONFIG)
    for array in (run.tokens_after, run.joined_at, run.pretokens.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_a_pair_count_shows_its_tie_is_immutable_and_compares_only_numbers() -> None:
    pair = bpe.PairCount(1, 2, 9, tied=True)
    assert repr(pair) == "PairCount(left=1, right=2, count=9, tied=True)"
    assert pair == bpe.PairCount(1, 2, 9) == (1, 2, 9)
    assert copy(pair).tied
    with pytest.raises(AttributeError):
        pair.tied = False  # pyright: ignore[reportAttributeAccessIssue]


def test_a_run_cancelled_at_once_is_valid_and_empty() -> None:
    run = bpe.train(CORPUS, CONFIG, should_stop=lambda: True)
    assert (run.stop_reason, run.merges, run.tokens_after.tolist()) == ("cancelled", (), [0])
    assert run.tokenizer.decode(run.tokenizer.encode("hug")) == "hug"


def test_a_run_cancelled_while_counting_is_cancelled_even_if_no_merge_was_requested() -> None:
    config = replace(CONFIG, vocab_size=257)
    assert bpe.train(CORPUS, config, should_stop=lambda: True).stop_reason == "cancelled"


def test_a_run_cancelled_midway_keeps_its_merges() -> None:
    config = bpe.TrainingConfig(5_000, special_tokens=())
    corpus = bpe.Corpus.from_text(" ".join(str(n) for n in range(5_000)))
    whole = bpe.train(corpus, config)
    stop = threading.Event()

    def cancel_after_hundred(report: bpe.TrainingProgress) -> None:
        if report.merges_done >= 100:
            stop.set()

    run = bpe.train(corpus, config, cancel_after_hundred, stop.is_set)
    assert run.stop_reason == "cancelled"
    assert 100 <= len(run.merges) < 300
    assert run.merges == whole.merges[: len(run.merges)]
    assert run.tokens_after.tolist() == whole.tokens_after[: len(run.merges) + 1].tolist()
    assert run.pair_counts(50) == whole.pair_counts(50)


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (3, 2), (0, 44)])
def test_a_range_outside_the_run_cannot_be_traced(start: int, stop: int) -> None:
    run = bpe.train(CORPUS, CONFIG)
    assert len(run.merges) == 43
    with pytest.raises(bpe.OutOfRangeError, match=r"start .* to 2, got|the step .* to 43, got 44"):
        run.trace(start, stop)


@pytest.mark.parametrize("step", [-1, 44])
def test_a_step_outside_the_run_has_no_pairs(step: int) -> None:
    run = bpe.train(CORPUS, CONFIG)
    with pytest.raises(
        bpe.OutOfRangeError, match=rf"step as a whole number from 0 to 43, got {step} "
    ):
        run.pair_counts(step)
    with pytest.raises(bpe.OutOfRangeError):
        run.top_pairs(step, 1)


def test_a_trace_of_no_merges_is_empty() -> None:
    trace = bpe.train(CORPUS, CONFIG).trace(5, 5)
    assert (trace.start, trace.stop, trace.top_left.shape) == (5, 5, (0, 10))


def test_other_text_is_counted_with_its_unknown_symbols() -> None:
    config = bpe.TrainingConfig(
        100, base="characters", pretokenizer="whitespace", special_tokens=()
    )
    run = bpe.train(bpe.Corpus.from_text("hug hug"), config)
    assert [run.tokenizer.vocab[merge.id] for merge in run.merges] == [b"hu", b"hug"]
    assert run.tokens_after_on(bpe.Corpus.from_text("hxug hug hu")).tolist() == [9, 7, 6]


@pytest.mark.parametrize("special_tokens", [(), ("[CLS]", "a")])
def test_the_table_of_a_run_is_the_one_that_checks_would_build(
    special_tokens: tuple[str, ...],
) -> None:
    tokenizer = bpe.train(CORPUS, bpe.TrainingConfig(270, special_tokens=special_tokens)).tokenizer
    triples = [(merge.left, merge.right, merge.id) for merge in tokenizer.merges]
    counts = list(range(tokenizer.n_merges))
    checked = TokenTable(
        vocab=tokenizer.vocab,
        merges=triples,
        special_tokens=tokenizer.special_tokens,
        counts=counts,
    )
    built = TokenTable.trusted(
        tokenizer.vocab.values(),
        triples,
        tokenizer.special_tokens,
        alphabet_at=len(special_tokens),
        counts=counts,
    )
    assert bpe.Tokenizer.from_table(checked, "gpt2") == tokenizer
    for name in TABLE_PARTS:
        assert getattr(built, name) == getattr(checked, name), name
    assert list(built.base_ids) == list(checked.base_ids)


def test_a_held_out_part_without_text_has_no_tokens() -> None:
    _, held_out = bpe.Corpus.from_text("hug").split(0.1)
    assert held_out.n_bytes == 0
    assert set(bpe.train(CORPUS, CONFIG).tokens_after_on(held_out).tolist()) == {0}


@pytest.mark.parametrize("base", ["bytes", "characters"])
def test_more_symbols_than_32_bits_can_index_are_refused_before_allocating(base: Base) -> None:
    words = tuple([b"a" * (1 << 20)] * (1 << 11))  # one shared object; 2 GB if laid out
    pretokens = PretokenCounts(words, np.ones(len(words), np.int64))
    summary = bpe.CountsSummary(CONFIG.pretokenizer, 1 << 31, "", "a")
    counted = bpe.WordCounts(pretokens, summary)
    with pytest.raises(bpe.CorpusError, match=r"have 2,147,485,697 symbols.*2,147,483,647"):
        bpe.train(counted, replace(CONFIG, base=base))


def test_counting_reports_the_share_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("a line of hugs and pugs\n" * 600_000)
    texts = ["a line of hugs and pugs\n" * 60_000] * 10
    for corpus in (bpe.Corpus.from_documents(texts), stream_corpus([path])):
        shares: list[float] = []
        run = bpe.train(corpus, bpe.TrainingConfig(260), on_counting=shares.append)
        assert run.tokenizer == bpe.train(corpus, bpe.TrainingConfig(260)).tokenizer
        assert shares == sorted(shares)
        assert len(set(shares)) > 1
        assert 0.5 < shares[-1] <= 1


def test_text_that_spells_a_special_token_is_trained_on_as_ordinary_text() -> None:
    corpus = bpe.Corpus.from_text("PAD PAD PAD")
    config = bpe.TrainingConfig(400, special_tokens=("PAD",), pretokenizer="whitespace")
    run = bpe.train(corpus, config)
    assert 0 not in run.tokenizer.encode("PAD PAD")
    assert run.tokenizer.encode("PAD", allowed_special="all") == [0]


# The reference trainer


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
