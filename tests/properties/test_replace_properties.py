"""Replacing keeps the size, and every new token is spelled in the base's tokens."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.adapting import extend, replace, shrink
from bpe_core.corpus import stream_corpus
from tests.adapting_reference import replace_reference
from tests.strategies import word_counts

TEXT = "Der Fluss fließt, die Flüsse fließen; das Schiff schifft auf dem Fluss. " * 20


@given(word_counts, word_counts, st.integers(1, 6))
def test_the_result_is_shrink_then_extend(
    old: dict[str, int], new: dict[str, int], n_tokens: int
) -> None:
    base = bpe.train(bpe.Corpus.from_word_counts(old), bpe.TrainingConfig(275)).tokenizer
    corpus = bpe.Corpus.from_word_counts(new)
    assume(base.n_merges >= n_tokens)
    smaller = shrink(base, corpus, base.vocab_size - n_tokens)
    run = extend(smaller.tokenizer, corpus, n_tokens)
    if len(run.new_tokens) < n_tokens:
        with pytest.raises(bpe.ConfigError, match="Replace fewer"):
            replace(base, corpus, n_tokens)
        return
    swapped = replace(base, corpus, n_tokens)
    assert swapped.tokenizer == run.tokenizer
    assert swapped.tokenizer.vocab_size == base.vocab_size == len(swapped.old_ids)
    for id, token in swapped.tokenizer.vocab.items():
        old_id = int(swapped.old_ids[id])
        parts = swapped.parts[id] if old_id < 0 else (old_id,)
        assert b"".join(base.vocab[part] for part in parts) == token
    assert (swapped.old_ids < 0).sum() == len(swapped.parts)
    for id, parts in swapped.parts.items():
        token = swapped.tokenizer.vocab[id]
        with suppress(UnicodeDecodeError):  # a part of a character is not a word
            token.decode()
            assert list(parts) == base.encoder.encode_words([token])[0].tolist()


@given(
    word_counts,
    word_counts,
    st.integers(1, 4),
    st.lists(st.text("abc ", min_size=1, max_size=4), max_size=2),
    st.sampled_from([None, ("Latin",), ("Latin", "No letters")]),
    st.lists(st.sampled_from([b"ab", b"ba", b"aa", b"abc"]), max_size=2),
)
def test_the_result_equals_the_naive_twin(
    old: dict[str, int],
    new: dict[str, int],
    n_tokens: int,
    terms: list[str],
    scripts: tuple[str, ...] | None,
    left_out: list[bytes],
) -> None:
    base = bpe.train(bpe.Corpus.from_word_counts(old), bpe.TrainingConfig(270)).tokenizer
    corpus = bpe.Corpus.from_word_counts(new)
    expected = replace_reference(
        base, new, n_tokens, scripts=scripts, terms=terms, left_out=left_out
    )
    try:
        swapped = replace(base, corpus, n_tokens, scripts=scripts, terms=terms, left_out=left_out)
    except bpe.ConfigError:
        assert expected is None or len(expected[1].merges) < n_tokens
        return
    assert expected is not None
    removed, extension = expected
    assert list(swapped.removed) == removed
    new_merges = swapped.tokenizer.merges[-n_tokens:]
    assert [m.pair for m in new_merges] == [m.pair for m in extension.merges]
    costs = [(cost.token, cost.tokens_added, cost.tokens_saved) for cost in swapped.terms]
    assert costs == extension.terms


def test_terms_come_first_also_those_that_the_text_does_not_contain() -> None:
    base = bpe.train(
        bpe.Corpus.from_word_counts({"hug": 3, "pun": 2}), bpe.TrainingConfig(261)
    ).tokenizer
    corpus = bpe.Corpus.from_word_counts({"bugs": 9, "bag": 5})
    hug = next(id for id, token in base.vocab.items() if token == b"hug")
    swapped = replace(base, corpus, 2, terms=["hug", b"xg"])
    assert hug not in swapped.removed
    kept, made = swapped.terms
    assert (kept.token, kept.tokens_added) == (b"hug", 0)
    assert (made.token, made.tokens_added, made.is_absent) == (b"xg", 1, True)
    assert swapped.tokenizer.vocab[259] == b"xg"


def test_a_stream_and_counted_words_give_the_same_as_a_corpus(tmp_path: Path) -> None:
    base = bpe.train(
        bpe.Corpus.from_text("hug pun hugs puns " * 9), bpe.TrainingConfig(264)
    ).tokenizer
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    expected = replace(base, bpe.Corpus.from_text(TEXT), 3, order="last-learned")
    assert replace(base, stream_corpus([path]), 3, order="last-learned").tokenizer == (
        expected.tokenizer
    )
    shrunk = shrink(base, stream_corpus([path]), 260)
    assert shrunk.removed == shrink(base, bpe.Corpus.from_text(TEXT), 260).removed


@pytest.mark.slow
def test_gpt2_takes_fewer_tokens_at_the_same_size() -> None:
    swapped = replace(bpe.gpt2(), bpe.Corpus.from_text(TEXT), n_tokens=12)
    tokenizer = swapped.tokenizer
    assert tokenizer.vocab_size == 50_257
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT
    assert len(tokenizer.encode(TEXT)) < 0.8 * len(bpe.gpt2().encode(TEXT))
    (special,) = tokenizer.special_tokens.values()
    assert swapped.old_ids[special] == 50_256


def test_a_removed_token_that_is_learned_again_keeps_its_row() -> None:
    base = bpe.train(
        bpe.Corpus.from_word_counts({"hug": 3, "pun": 2}), bpe.TrainingConfig(261)
    ).tokenizer
    corpus = bpe.Corpus.from_word_counts({"hugging": 9, "hug": 5})
    swapped = replace(base, corpus, n_tokens=4)
    assert swapped.tokenizer.vocab_size == 261
    again = {base.vocab[int(id)]: int(id) for id in swapped.old_ids[257:] if id >= 0}
    assert again == {base.vocab[id]: id for id in swapped.removed if b"hu" in base.vocab[id]}
    assert len(again) == len(swapped.parts) == 2


def test_a_token_built_on_one_that_is_learned_again_starts_from_it() -> None:
    base = bpe.train(
        bpe.Corpus.from_word_counts({"hug": 3, "pun": 2}), bpe.TrainingConfig(261)
    ).tokenizer
    corpus = bpe.Corpus.from_word_counts({"hugs": 9, "hug": 5, "ab": 2})
    swapped = replace(base, corpus, n_tokens=4)
    spelled = {
        swapped.tokenizer.vocab[id]: [base.vocab[part] for part in parts]
        for id, parts in swapped.parts.items()
    }
    assert spelled == {b"hugs": [b"hug", b"s"], b"ab": [b"a", b"b"]}


@pytest.mark.parametrize("tokenizer", [None, 7])
def test_anything_but_a_tokenizer_is_refused(tokenizer: Any) -> None:
    with pytest.raises(bpe.ConfigError, match="open_encoder"):
        replace(tokenizer, bpe.Corpus.from_text(TEXT), 2)


@pytest.mark.slow
@pytest.mark.parametrize("n_looks", range(5))
def test_replacing_stops_whenever_it_is_asked_to(n_looks: int) -> None:
    looks = iter(range(100))
    corpus = bpe.Corpus.from_text(TEXT)
    with pytest.raises(CancelledError):
        replace(bpe.gpt2(), corpus, 3, should_stop=lambda: next(looks) >= n_looks)
    assert next(looks) == n_looks + 1  # not called again after it returned True


@pytest.mark.slow
def test_shrinking_stops_while_words_are_counted_and_laid_out() -> None:
    base = bpe.gpt2()
    steps: list[tuple[int, int]] = []
    # It is called while counting (1), before the words are laid out (2), and during that (3).
    for n_looks in (1, 2, 3):
        looks = iter(range(100))
        with pytest.raises(CancelledError):
            shrink(
                base,
                bpe.Corpus.from_text(TEXT),
                50_000,
                on_progress=lambda *step: steps.append(step),
                should_stop=lambda looks=looks, n=n_looks: next(looks) + 1 >= n,
            )
    assert steps == [(0, 257)] * 3


@pytest.mark.slow
def test_without_a_reason_to_stop_the_result_is_the_same() -> None:
    corpus = bpe.Corpus.from_text(TEXT)
    swapped = replace(bpe.gpt2(), corpus, 3, should_stop=lambda: False)
    assert swapped.tokenizer == replace(bpe.gpt2(), corpus, 3).tokenizer
