"""No added text changes a token that is called stable, and one changes the first of the others."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.tokenizer import Tokenizer, unstable_end
from tests.strategies import tokenizers

LETTERS = "ab é\n1'"
any_tokenizer = st.sampled_from(["gpt2", "cl100k", "whitespace", "none", "superwords"]).flatmap(
    lambda cut: st.one_of(
        tokenizers(LETTERS, n_merges=14, pretokenizer=cut),
        tokenizers(LETTERS, n_merges=14, pretokenizer=cut, base="characters", end_of_word="."),
    )
)
short = ["".join(each) for n in (1, 2) for each in product(LETTERS, repeat=n)]


def common(one: list[int], other: list[int]) -> int:
    return next((n for n, id in enumerate(one) if other[n : n + 1] != [id]), len(one))


@given(any_tokenizer, st.text(LETTERS, max_size=8), st.lists(st.text(LETTERS, max_size=9)))
def test_stable_tokens_stay_whatever_is_added(
    tokenizer: Tokenizer, text: str, longer: list[str]
) -> None:
    ids = tokenizer.encode(text)
    end = unstable_end(tokenizer, text)
    assert end.n_stable + end.n_unstable == len(ids)
    for added in (*short, *longer):
        found = tokenizer.encode(text + added)
        assert common(ids, found) >= end.n_stable, added
    if end.n_unstable:
        found = tokenizer.encode(text + end.added)
        assert common(ids, found) == end.n_stable
        assert found[end.n_stable :] == list(end.ids)


GPT2 = {
    "I like th": (2, "e"),
    "Hello ": (1, "t"),
    "Answer:": (1, "//"),
    "": (0, ""),
    "漢": (3, ""),
}


@pytest.mark.parametrize("text", GPT2)
def test_ends_of_prompts_of_gpt2(text: str) -> None:
    end = bpe.unstable_end("gpt2", text)
    assert (end.n_stable, end.added) == GPT2[text]


def test_a_token_that_stands_only_before_another_symbol_of_its_word() -> None:
    """With nothing after it, "éa" ends its word, and the merge of its end comes first."""
    tokenizer = Tokenizer(
        vocab={0: b"a", 1: "é".encode(), 2: b".", 3: b"a.", 4: "éa".encode()},
        merges=[(0, 2, 3), (1, 0, 4)],
        base="characters",
        end_of_word=".",
        pretokenizer="gpt2",
    )
    assert unstable_end(tokenizer, "é") == (0, 2, "aa", (4, 3))


def test_text_may_join_the_last_pretokens_before_it() -> None:
    """Superwords cut "\\n " before its last space, unless a word follows."""
    tokenizer = Tokenizer(
        vocab={0: b"\n", 1: b" ", 2: b"a", 3: b" a", 4: b"\n a"},
        merges=[(1, 2, 3), (0, 3, 4)],
        pretokenizer="superwords",
    )
    assert tokenizer.pretokenizer.split("\n ") == ["\n", " "]
    assert unstable_end(tokenizer, "\n ") == (0, 2, "a", (4,))


def test_what_follows_a_token_may_decide_which_word_it_is_in() -> None:
    """In o200k's cut, a capital joins the word before it only if a small letter follows."""
    vocab = dict(enumerate([b"a", b"B", b"\xe6", b"\xbc", b"\xa2", b"\xa2B"]))
    tokenizer = Tokenizer(vocab=vocab, merges=[(4, 1, 5)], pretokenizer="o200k")
    assert unstable_end(tokenizer, "漢") == (2, 1, "Ba", (5, 0))


def test_a_special_token_that_is_begun_may_be_completed() -> None:
    end = unstable_end("gpt2", "the<|endoftext", allowed_special="all")
    ids = bpe.gpt2().encode("the<|endoftext" + end.added, "all")
    assert (end.n_stable, ids[1:]) == (1, list(end.ids))


def test_long_texts_are_told_by_their_ends() -> None:
    text = "I like the sea, " * 400
    end = unstable_end("gpt2", text)
    assert (end.n_stable, end.n_unstable) == (len(bpe.gpt2().encode(text)) - 1, 1)
