"""Shrinking equals encoding the whole corpus again after each removal."""

from __future__ import annotations

import random
from concurrent.futures import CancelledError

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.adapting import RemovalOrder, Removals, shrink
from bpe_core.formats.listed_merges import MergesNotFoundError
from bpe_core.formats.tiktoken_file import recover_rank_merges
from bpe_core.unicode import token_script
from bpe_core.vocabulary import uses_in_corpus
from tests.adapting_reference import remove_reference
from tests.strategies import tokenizers, training_configs, word_counts

counted = st.dictionaries(
    st.text("abc", min_size=1, max_size=14), st.integers(1, 3), min_size=1, max_size=8
)


def check_against_twin(tokenizer: bpe.Tokenizer, corpus: bpe.Corpus, order: RemovalOrder) -> None:
    removals = Removals.of(tokenizer, corpus, order=order, held_out=corpus)
    expected, sizes = remove_reference(tokenizer, corpus, last_learned=order == "last-learned")
    assert list(removals.order) == expected
    assert removals.tokens_after.tolist() == sizes
    assert removals.held_out_tokens_after is not None
    assert removals.held_out_tokens_after.tolist() == sizes


@pytest.mark.slow
@given(tokenizers("abc", n_merges=14), counted, st.sampled_from(["fewest-uses", "last-learned"]))
@settings(max_examples=400)
def test_any_merges_on_words_full_of_ties(
    tokenizer: bpe.Tokenizer, words: dict[str, int], order: RemovalOrder
) -> None:
    check_against_twin(tokenizer, bpe.Corpus.from_word_counts(words), order)


@given(word_counts, training_configs, st.sampled_from(["fewest-uses", "last-learned"]))
def test_trained_tokenizers_of_every_kind(
    words: dict[str, int], config: bpe.TrainingConfig, order: RemovalOrder
) -> None:
    corpus = bpe.Corpus.from_word_counts(words)
    check_against_twin(bpe.train(corpus, config).tokenizer, corpus, order)


@given(
    tokenizers("ab", n_merges=10, longest=9),
    st.dictionaries(
        st.builds(str.__mul__, st.sampled_from(["a", "b", "ab"]), st.integers(1, 30)),
        st.integers(1, 3),
        min_size=1,
        max_size=5,
    ),
)
def test_runs_of_one_letter(tokenizer: bpe.Tokenizer, words: dict[str, int]) -> None:
    check_against_twin(tokenizer, bpe.Corpus.from_word_counts(words), "fewest-uses")


@given(
    tokenizers("abé", n_merges=12, base="characters", end_of_word="</w>"),
    st.dictionaries(
        st.text("abéx", min_size=1, max_size=10), st.integers(1, 3), min_size=1, max_size=6
    ),
)
def test_characters_with_a_marker_and_missing_symbols(
    tokenizer: bpe.Tokenizer, words: dict[str, int]
) -> None:
    check_against_twin(tokenizer, bpe.Corpus.from_word_counts(words), "fewest-uses")


@given(
    st.lists(st.text("abcd", min_size=2, max_size=6), unique=True, max_size=25),
    st.dictionaries(
        st.text("abcd", min_size=1, max_size=8), st.integers(1, 3), min_size=1, max_size=8
    ),
)
def test_whole_words_looked_up_first(tokens: list[str], words: dict[str, int]) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {token.encode(): 256 + n for n, token in enumerate(tokens)}
    try:
        tokenizer = recover_rank_merges(ranks, "llama3", {}).tokenizer()
    except MergesNotFoundError:
        reject()
    check_against_twin(tokenizer, bpe.Corpus.from_word_counts(words), "fewest-uses")


def test_several_merges_of_one_token_and_equal_whole_words() -> None:
    tokenizer = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc", 5: b"abc", 6: b"abc", 7: b"xy"},
        merges=[(0, 1, 3), (1, 2, 4), (3, 2, 5), (0, 4, 5)],
        pretokenizer="none",
        whole_words_first=True,
    )
    for words in ({"abc": 3, "aabc": 1}, {"xy": 2, "abcabc": 1, "bcab": 4}, {"cabcab": 1}):
        check_against_twin(tokenizer, bpe.Corpus.from_word_counts(words), "fewest-uses")


def test_a_use_does_not_always_go_to_the_two_parts() -> None:
    # Without "ab", the later merge "bc" is free to join b with its neighbour.
    tokenizer = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc"},
        merges=[(0, 1, 3), (1, 2, 4)],
        pretokenizer="none",
    )
    removals = Removals.of(tokenizer, bpe.Corpus.from_word_counts({"abc": 5, "bc": 6}))
    assert removals.order == (3, 4)
    assert removals.tokens_after.tolist() == [16, 16, 27]
    assert removals.uses.tolist() == [5, 11]


@pytest.mark.slow
@pytest.mark.parametrize("order", ["fewest-uses", "last-learned"])
def test_gpt2_on_text_encodes_as_the_curve_says(order: RemovalOrder) -> None:
    text = " ".join(random.Random(1).choices(["hugging", "Straße", "naïve", "foxes", "1984"], k=50))
    corpus, held_out = bpe.Corpus.from_text(text), bpe.Corpus.from_text("naïve foxes hug")
    removals = Removals.of(bpe.gpt2(), corpus, held_out=held_out, order=order)
    assert removals.held_out_tokens_after is not None
    for size in (50_257, 30_000, 5_000, 290, 262, 257):
        shrunk = removals.at(size)
        n_removed = 50_257 - size
        ids = shrunk.tokenizer.encode(text)
        assert len(ids) == removals.tokens_after[n_removed]
        assert shrunk.tokenizer.decode(ids) == text
        assert (
            len(shrunk.tokenizer.encode("naïve foxes hug"))
            == removals.held_out_tokens_after[n_removed]
        )
        assert len(shrunk.old_ids) == size
        for new, old in enumerate(shrunk.old_ids.tolist()):
            assert shrunk.tokenizer.vocab[new] == bpe.gpt2().vocab[old]
        if order == "last-learned":
            # 256 bytes and GPT-2's special token, which has the highest id, are not merges.
            assert shrunk.tokenizer.merges == bpe.gpt2().truncated(size - 257).merges


@pytest.mark.slow
def test_uses_are_those_of_the_encoding_at_that_size() -> None:
    corpus = bpe.Corpus.from_text("the then there other bother hugs hugging the the")
    removals = Removals.of(bpe.gpt2(), corpus, vocab_size=262)
    for n in (0, len(removals.order) - 8, len(removals.order) - 3):
        adapted = removals.at(50_257 - n)
        uses = uses_in_corpus(adapted.tokenizer, corpus)
        new_id = int(np.flatnonzero(adapted.old_ids == removals.order[n])[0])
        assert uses[new_id] == removals.uses[n]


def before_the_work(done: int, of: int) -> None:
    raise AssertionError(f"{done} of {of} removals were made before they were refused.")


@pytest.mark.slow
def test_pinned_tokens_and_their_parts_stay() -> None:
    hug = bpe.gpt2().encode(" hugging")
    shrunk = shrink(bpe.gpt2(), bpe.Corpus.from_text("a"), 270, pinned=hug, order="fewest-uses")
    assert set(hug) <= set(shrunk.old_ids.tolist())
    with pytest.raises(bpe.ConfigError, match="cannot shrink below 264 tokens"):
        shrink(bpe.gpt2(), bpe.Corpus.from_text("a"), 257, pinned=hug, on_progress=before_the_work)


@pytest.mark.slow
def test_only_tokens_of_the_chosen_scripts_go() -> None:
    removals = Removals.of(bpe.gpt2(), bpe.Corpus.from_text("да нет"), scripts=["Cyrillic"])
    assert removals.order
    assert {token_script(bpe.gpt2().vocab[id]) for id in removals.order} == {"Cyrillic"}
    corpus = bpe.Corpus.from_text("да")
    with pytest.raises(bpe.ConfigError, match="other scripts"):
        shrink(bpe.gpt2(), corpus, 1_000, scripts=["Cyrillic"], on_progress=before_the_work)


@pytest.mark.parametrize("size", [-1, 50_258, 3.5, "many"])
def test_an_impossible_size_is_refused(size: object) -> None:
    with pytest.raises(
        bpe.ConfigError, match="Expected vocab_size as a whole number from 0 to 50,257"
    ):
        shrink(bpe.gpt2(), bpe.Corpus.from_text("a"), size)  # pyright: ignore[reportArgumentType]


@pytest.mark.slow
def test_it_stops_when_asked_and_reports() -> None:
    corpus = bpe.Corpus.from_text("hug")
    with pytest.raises(CancelledError):
        Removals.of(bpe.gpt2(), corpus, should_stop=lambda: True)
    seen: list[tuple[int, int]] = []
    shrink(bpe.gpt2(), corpus, 49_000, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 1_257)
    assert seen[-1] == (1_024, 1_257)
