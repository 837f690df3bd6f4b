"""Added tokens are found as if each were tried at every position, the longest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.tokenizer.steps import AddedTokenFinder

texts = st.text("ab<.*", min_size=1, max_size=5)


def by_trying(text: str, tokens: Sequence[str]) -> Iterator[tuple[str, int | None]]:
    at = start = 0
    while at < len(text):
        found = max((token for token in tokens if text.startswith(token, at)), key=len, default="")
        if not found:
            at += 1
            continue
        if start < at:
            yield text[start:at], None
        yield found, tokens.index(found)
        at = start = at + len(found)
    if start < len(text):
        yield text[start:], None


@given(st.lists(texts, unique=True, max_size=8), st.text("ab<.*", max_size=30))
def test_the_longest_added_token_is_found_at_each_place(tokens: list[str], text: str) -> None:
    finder = AddedTokenFinder({each: id for id, each in enumerate(tokens)})
    assert list(finder.split(text, frozenset())) == list(by_trying(text, tokens))


@pytest.mark.slow
def test_tokens_that_begin_alike_are_found_however_long() -> None:
    tokens = ["a" * n for n in range(1, 1_500)]
    finder = AddedTokenFinder({each: id for id, each in enumerate(tokens)})
    assert list(finder.split("a" * 1_500, frozenset())) == [("a" * 1_499, 1_498), ("a", 0)]
