"""A run that extends a base equals, at every step, a recount of the words merged one by one."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.kernels import BETWEEN, MISSING
from bpe_core.trainers import (
    PairLives,
    apply_merge,
    choose_pair,
    count_pairs,
    encode_word,
    reviving_tokens,
)
from bpe_core.trainers.special_runs import bytes_apart
from bpe_core.types import Pair
from bpe_core.vocabulary import count_uses, token_origin
from tests.extending import Case, cases


def words_at(case: Case, run: bpe.TrainingRun, step: int) -> list[list[int]]:
    """Encode the words with the base and apply the first merges to them."""
    spelling = {*case.base.table.byte_ids.values()}  # which no merge joins
    words = [
        [-1 if id in spelling else id for id in encode_word(case.base, word)] for word in case.words
    ]
    for merge in run.merges[:step]:
        words = [apply_merge(word, merge.pair, merge.id) for word in words]
    return words


def pairs_at(case: Case, run: bpe.TrainingRun, step: int) -> dict[Pair, int]:
    """Count the pairs that may merge, in order of first occurrence."""
    taken = {*case.base.vocab.values(), *case.left_out, *reviving_tokens(case.base)}
    vocab = run.tokenizer.vocab
    most = case.max_token_bytes or 1 << 30
    apart = {*bytes_apart(case.base)}
    return {
        (left, right): count
        for (left, right), count in count_pairs(
            words_at(case, run, step), case.words.values()
        ).items()
        if min(left, right) >= 0
        and vocab[left] + vocab[right] not in taken
        and len(vocab[left] + vocab[right]) <= most
        and len({byte in apart for byte in vocab[left] + vocab[right]}) == 1
    }


@pytest.mark.slow
@given(cases)
@settings(max_examples=60)
def test_every_step_equals_a_recount(case: Case) -> None:
    run = case.extended()
    weights = list(case.words.values())
    for step in range(len(run.merges) + 1):
        words = words_at(case, run, step)
        assert run.tokens_after[step] == sum(
            n * len(word) for n, word in zip(weights, words, strict=True)
        )
        row = [BETWEEN]
        for word in words:
            row += [*(id if id >= 0 else MISSING for id in word), BETWEEN]
        assert run.layout_at(step).ids.tolist() == row
        pairs = pairs_at(case, run, step)
        counted = run.pair_counts(step)
        assert counted == pairs
        assert list(counted) == list(pairs)
        top = run.top_pairs(step, 3)
        if pairs and step >= run.n_term_merges:
            assert (top[0].left, top[0].right) == choose_pair(pairs, case.tie_break)
        if step < len(run.merges):
            assert pairs.get(run.merges[step].pair, 0) == run.merges[step].count
            assert top[0] == (*run.merges[step].pair, run.merges[step].count)


@pytest.mark.slow
@given(cases)
@settings(max_examples=60)
def test_a_trace_equals_a_recount(case: Case) -> None:
    run = case.extended()
    trace = run.trace(0, len(run.merges), k=3)
    for step, merge in enumerate(run.merges):
        before, after = (Counter(pairs_at(case, run, at)) for at in (step, step + 1))
        top = run.top_pairs(step, 3)
        assert trace.top_left[step, : len(top)].tolist() == [pair.left for pair in top]
        assert trace.top_right[step, : len(top)].tolist() == [pair.right for pair in top]
        assert trace.top_count[step, : len(top)].tolist() == [pair[2] for pair in top]
        assert trace.n_pairs[step] == len(before)
        as_many = sum(n == merge.count for n in before.values())
        assert trace.n_tied[step] == (1 if step < run.n_term_merges else as_many)
        moved = {pair: after[pair] - before[pair] for pair in {*before, *after} - {merge.pair}}
        most = sorted((n for n in moved.values() if n > 0), reverse=True)[:3]
        assert trace.risen_by[step, : len(most)].tolist() == most
        least = sorted((-n for n in moved.values() if n < 0), reverse=True)[:3]
        assert trace.fallen_by[step, : len(least)].tolist() == least


@given(cases)
@settings(max_examples=60)
def test_the_lives_of_pairs_equal_recounts(case: Case) -> None:
    run = case.extended()
    lives = PairLives(run)
    steps = [pairs_at(case, run, step) for step in range(len(run.merges) + 1)]
    for pair in {pair for pairs in steps for pair in pairs}:
        life = lives.find(pair)
        assert life.counts.tolist() == [pairs.get(pair, 0) for pairs in steps]
        assert life.ranks.tolist() == [
            1 + sum(n > pairs[pair] for n in pairs.values()) if pair in pairs else 0
            for pairs in steps
        ]


@pytest.mark.slow
@given(cases, st.lists(st.text("abcé<>/w", min_size=1, max_size=12), min_size=1, max_size=5))
@settings(max_examples=60)
def test_token_curves_equal_encoding_with_each_truncated_tokenizer(
    case: Case, texts: list[str]
) -> None:
    run = case.extended()
    curve = run.tokens_after_on(bpe.Corpus.from_documents(texts))
    expected = [
        sum(len(encode_word(run.truncated(step), text)) for text in texts)
        for step in range(len(run.merges) + 1)
    ]
    assert curve.tolist() == expected
    on_itself = run.tokens_after_on(bpe.Corpus.from_word_counts(case.words))
    assert on_itself.tolist() == run.tokens_after.tolist()


@given(cases)
@settings(max_examples=60)
def test_statistics_of_the_vocabulary_start_from_the_base(case: Case) -> None:
    run = case.extended()
    n_base = case.base.vocab_size
    assert run.vocab_size_after.tolist() == list(range(n_base, n_base + len(run.merges) + 1))
    assert run.count_uses().tolist() == count_uses(run.tokenizer, run.pretokens).tolist()
    for id in run.new_tokens:
        token = run.tokenizer.vocab[id]
        if id in run.tokenizer.table.ending_word:
            token = token.removesuffix(b"</w>")
        origin = token_origin(run, id)
        for word in origin.words:
            for start, end in word.spans:
                assert word.word[start:end] == token


def assert_same(one: bpe.TrainingRun, other: bpe.TrainingRun) -> None:
    assert one.base == other.base
    assert one.left_out == other.left_out
    assert one.terms == other.terms
    assert one.tokenizer == other.tokenizer
    assert one.merges == other.merges
    assert one.new_tokens == other.new_tokens
    assert one.config == other.config
    assert one.tokens_after.tolist() == other.tokens_after.tolist()
    for step in range(len(one.merges) + 1):
        assert one.pair_counts(step) == other.pair_counts(step)


@pytest.mark.slow
@given(cases)
@settings(max_examples=60)
def test_an_extended_run_survives_pickling_and_saving(
    tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    run = case.extended()
    assert_same(run, pickle.loads(pickle.dumps(run)))
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    bpe.save_run(run, path)
    assert_same(run, bpe.load_run(path))


@pytest.mark.slow
def test_an_altered_number_of_merges_is_refused(tmp_path: Path) -> None:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text("tokenizers untokenized"), n_tokens=3)
    bpe.save_run(run, tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = dict(archive)
    head = arrays["head"].tobytes()
    for old, new in (
        (b'"terms": [', b'"terms": [{"term": "x"}, '),
        (b'"base_merges": 50000', b'"base_merges": 50001'),
        (b'"base_merges": 50000', b'"base_merges": "no"'),
        (b'"counts": [', b'"counts": [1, '),
        (b'"left_out": []', b'"left_out": 7'),
        (b'"left_out": []', b'"left_out": ["no"]'),
        (b'"version": 2', b'"version": 3'),
    ):
        assert old in head
        arrays["head"] = np.frombuffer(head.replace(old, new, 1), np.uint8)
        np.savez(tmp_path / "altered.npz", **arrays)
        with pytest.raises(bpe.FormatError):
            bpe.load_run(tmp_path / "altered.npz")


@pytest.mark.slow
def test_a_run_saved_before_tokens_could_be_left_out_loads(tmp_path: Path) -> None:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text("tokenizers untokenized"), n_tokens=3)
    bpe.save_run(run, tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = dict(archive)
    head = arrays["head"].tobytes()
    lists = b', "left_out": [], "terms": []'
    assert lists in head
    arrays["head"] = np.frombuffer(head.replace(lists, b""), np.uint8)
    np.savez(tmp_path / "older.npz", **arrays)
    assert_same(run, bpe.load_run(tmp_path / "older.npz"))


def test_steps_outside_the_run_are_refused() -> None:
    run = extend(bpe.gpt2(), bpe.Corpus.from_text("tokenizers untokenized"), n_tokens=2)
    with pytest.raises(bpe.OutOfRangeError, match="from 0 to 2, got"):
        run.truncated(3)
    assert run.truncated(0) == bpe.gpt2()
    assert repr(run).startswith("<TrainingRun of 2 merges")


def test_a_trace_numbers_the_words_that_hold_symbols_unknown_to_the_base() -> None:
    base = bpe.Tokenizer(vocab={0: b"a", 1: b"b"}, merges=[], pretokenizer="none")
    run = extend(base, bpe.Corpus.from_word_counts({"?ab": 3, "ab": 5, "ba": 9}), 2)
    trace = run.trace(0, 2)
    assert trace.touched[0][trace.touched[0] >= 0].tolist() == [2]
    assert trace.touched[1][trace.touched[1] >= 0].tolist() == [1, 0]


def test_a_base_of_one_token_is_extended_up_to_a_length() -> None:
    base = bpe.Tokenizer(vocab={0: b"a"}, merges=[], pretokenizer="none")
    corpus = bpe.Corpus.from_word_counts({"aaaab": 3, "aa": 2})
    run = extend(base, corpus, 3, max_token_bytes=4)
    assert [run.tokenizer.vocab[merge.id] for merge in run.merges] == [b"aa", b"aaaa"]
