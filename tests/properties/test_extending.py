"""Extended tokenizers equal those of a naive twin, and otherwise encode as their bases do."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.adapting import extend
from bpe_core.trainers import encode_word
from tests.extending import Case, cases, spell_in_base
from tests.strategies import hostile_texts

TEXT = """The pretokenizer's tokenizers: untokenized, retokenizing, detokenizer. Straßenbahnen,
Straßenbahnhaltestelle, Haltestellen! नमस्ते दुनिया, नमस्ते।
def tokenize_text(tokenizers): return tokenizers
2026-11-22T19:39:17Z ERROR aaaaaaaaaaaaaaaaaaaaaaa 你好，世界 <|endoftext|> 👩‍👩‍👧 e\u0301"""


@given(cases)
def test_it_learns_what_the_naive_twin_learns(case: Case) -> None:
    run, naive = case.extended(), case.by_reference()
    assert list(run.merges) == naive.merges
    assert run.new_tokens == naive.new_tokens
    assert run.stop_reason == naive.stop_reason
    assert [(cost.token, cost.tokens_added, cost.tokens_saved) for cost in run.terms] == naive.terms
    weights = case.words.values()
    assert run.tokens_after[-1] == sum(
        n * len(ids) for n, ids in zip(weights, naive.words, strict=True)
    )


@given(cases, st.lists(st.text("abcé<>/w", max_size=12), max_size=8))
def test_new_tokens_spelled_in_the_base_are_its_encoding(case: Case, texts: list[str]) -> None:
    run = case.extended()
    for text in [*texts, *case.words]:
        before = case.base.encode(text, errors="skip")
        after = run.tokenizer.encode(text, errors="skip")
        assert spell_in_base(run, after) == before
        assert len(after) <= len(before)


@given(cases)
def test_its_words_are_encoded_as_training_left_them(case: Case) -> None:
    run, naive = case.extended(), case.by_reference()
    assert [encode_word(run.tokenizer, word) for word in case.words] == naive.words


@given(cases)
def test_each_new_token_has_a_new_id_and_new_bytes(case: Case) -> None:
    run = case.extended()
    first = max(case.base.vocab) + 1
    assert list(run.new_tokens) == list(range(first, first + len(run.merges)))
    new = {run.tokenizer.vocab[id] for id in run.new_tokens}
    assert new.isdisjoint(case.base.vocab.values())
    spelled = {
        (run.tokenizer.vocab[id], id in run.tokenizer.table.ending_word) for id in run.new_tokens
    }
    assert len(spelled) == len(run.merges)


@given(cases)
def test_without_its_new_merges_it_is_the_base(case: Case) -> None:
    run = case.extended()
    assert run.base == case.base
    assert run.truncated(0) == case.base
    assert run.truncated(len(run.merges)) == run.tokenizer
    assert dict(run.tokenizer.special_tokens) == dict(case.base.special_tokens)


@given(cases)
def test_tokens_given_as_terms_in_their_order_are_merged_as_before(case: Case) -> None:
    run = case.extended()
    vocab = run.tokenizer.vocab
    tokens = [
        (vocab[merge.id], merge.id in run.tokenizer.table.ending_word) for merge in run.merges
    ]
    # Bytes that end like the marker are read as a token that ends a word.
    assume(all(ends or not token.endswith(b"</w>") for token, ends in tokens))
    again = replace(case, terms=tuple(token for token, _ in tokens)).extended()
    assert again.merges[: len(run.merges)] == run.merges
    assert [cost.tokens_added for cost in again.terms] == [1] * len(tokens)
    assert again.joined_at.tolist() == run.joined_at.tolist()


@pytest.fixture(scope="module")
def extended_gpt2() -> bpe.TrainingRun:
    return extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), n_tokens=60)


def test_gpt2_gets_as_many_tokens_as_asked(extended_gpt2: bpe.TrainingRun) -> None:
    assert list(extended_gpt2.new_tokens) == list(range(50_257, 50_317))
    assert extended_gpt2.stop_reason == "vocab-size"


@given(hostile_texts)
def test_extended_gpt2_keeps_gpt2s_encoding(extended_gpt2: bpe.TrainingRun, text: str) -> None:
    text = text + TEXT[: len(text)]
    before = bpe.gpt2().encode(text, allowed_special="all")
    after = extended_gpt2.tokenizer.encode(text, allowed_special="all")
    assert spell_in_base(extended_gpt2, after) == before
    assert len(after) <= len(before)


def test_a_token_that_no_merge_reaches_is_not_spelled_again() -> None:
    # The word "ab" is looked up whole and stays whole; inside other words, its bytes stay apart.
    base = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"ab"}, merges=[], pretokenizer="none", whole_words_first=True
    )
    run = extend(base, bpe.Corpus.from_word_counts({"ab": 9, "aba": 5, "bb": 2}), n_tokens=5)
    assert [run.tokenizer.vocab[id] for id in run.new_tokens] == [b"ba", b"aba", b"bb"]
    assert run.stop_reason == "no-pairs"
    assert run.tokenizer.encode("ab") == [2]


def test_a_special_token_is_not_spelled_by_ordinary_text() -> None:
    base = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"ab"},
        merges=[],
        pretokenizer="none",
        special_tokens={"ab": 2},
    )
    run = extend(base, bpe.Corpus.from_word_counts({"ab": 9, "abb": 1}), n_tokens=5)
    assert [run.tokenizer.vocab[id] for id in run.new_tokens] == [b"bb", b"abb"]


def test_a_token_left_out_is_not_made_but_others_are() -> None:
    text = "A tokenizer, two tokenizers"
    run = extend(bpe.gpt2(), bpe.Corpus.from_text(text), n_tokens=2, left_out=[b" tokenizer"])
    assert [run.tokenizer.vocab[id] for id in run.new_tokens] == [b" tokenizers"]
    assert run.left_out == (b" tokenizer",)


@pytest.mark.parametrize("left_out", [" tokenizer", b" tokenizer", [" tokenizer"], [b""], None, 3])
def test_what_is_left_out_must_be_bytes(left_out: object) -> None:
    with pytest.raises(bpe.ConfigError, match=r"Expected .*tokens to leave out, got"):
        extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 1, left_out=left_out)  # pyright: ignore[reportArgumentType]


def test_a_cancelled_run_keeps_the_tokens_so_far() -> None:
    # Make enough merges for many checks, because the last few may follow the last check.
    letters = random.Random(2026)
    words = {"".join(letters.choices("qxzvkjQXZVKJW", k=12)): 1 for _ in range(400)}
    done = [0]
    run = extend(
        bpe.gpt2(),
        bpe.Corpus.from_word_counts(words),
        n_tokens=1_500,
        on_progress=lambda progress: done.append(progress.merges_done),
        should_stop=lambda: done[-1] > 0,
    )
    assert run.stop_reason == "cancelled"
    assert 0 < len(run.merges) < 1_500


def test_progress_is_reported() -> None:
    reports: list[tuple[int, int]] = []
    extend(
        bpe.gpt2(),
        bpe.Corpus.from_text(TEXT),
        n_tokens=3,
        on_progress=lambda progress: reports.append((progress.merges_done, progress.merges_wanted)),
    )
    assert reports[0] == (0, 3)
    assert reports[-1] == (3, 3)


@pytest.mark.parametrize("n_tokens", [0, -1, 2.0, None, True, "9"])
def test_a_wrong_number_of_tokens_is_refused(n_tokens: object) -> None:
    with pytest.raises(bpe.ConfigError, match="Expected n_tokens as a whole number, 1 or more"):
        extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), n_tokens)  # pyright: ignore[reportArgumentType]


def test_more_tokens_than_ids_are_refused() -> None:
    with pytest.raises(bpe.ConfigError, match=r"vocab_size as a whole number.* got \d+"):
        extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 2**31)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(bpe.ConfigError, match="Expected a tokenizer to adapt, got 7 "):
        extend(7, bpe.Corpus.from_text(TEXT), 1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(bpe.ArgumentTypeError, match="got 'hug'"):
        extend(bpe.gpt2(), "hug", 1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(bpe.ConfigError, match="tie_break is 'first'"):
        extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 1, tie_break="first")  # pyright: ignore[reportArgumentType]
    with pytest.raises(bpe.ConfigError, match=r"min_frequency as a whole number.* got -1"):
        extend(bpe.gpt2(), bpe.Corpus.from_text(TEXT), 1, min_frequency=-1)


def test_a_text_without_pretokens_is_refused() -> None:
    base = bpe.Tokenizer(vocab={0: b"a"}, merges=[], pretokenizer="whitespace")
    with pytest.raises(bpe.EmptyCorpusError, match="finds no pre-token"):
        extend(base, bpe.Corpus.from_text("  "), 1)


def test_ids_that_reach_too_far_are_refused() -> None:
    base = bpe.Tokenizer(vocab={0: b"a", 2**30: b"b"}, merges=[], pretokenizer="none")
    with pytest.raises(bpe.FormatError, match=r"its 2 ids range from 0 to 1,073,741,824"):
        extend(base, bpe.Corpus.from_text("ab"), 1)
