"""The parts that tokens are joined from are the same whoever looks for them, and where."""

from __future__ import annotations

import json

import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.formats import parse_json
from bpe_core.formats.checking.probe import keep_merges_within
from bpe_core.formats.running.run_by_tokenizers import encode_once
from bpe_core.formats.token_parts import (
    choose_by_kernel,
    choose_in_python,
    cuts_by_kernel,
    cuts_in_python,
    number_by_kernel,
    number_in_python,
    to_triples,
)

TOKENS = st.lists(st.text("ab", min_size=2, max_size=6).map(str.encode), unique=True, max_size=14)
"""Tokens of two letters, in the order of their ranks."""


def rank(tokens: list[bytes]) -> dict[bytes, int]:
    return {token: id for id, token in enumerate([b"a", b"b", *tokens])}


def cut(ranks: dict[bytes, int]) -> list[tuple[int, int, int]]:
    """Return every way in which two tokens make a third."""
    return [
        (ranks[token[:at]], ranks[token[at:]], id)
        for token, id in ranks.items()
        for at in range(1, len(token))
        if token[:at] in ranks and token[at:] in ranks
    ]


@given(TOKENS, st.data())
def test_the_kernel_chooses_the_parts_that_plain_python_chooses(
    tokens: list[bytes], data: st.DataObject
) -> None:
    ranks = rank(tokens)
    candidates = to_triples(data.draw(st.permutations(cut(ranks))))
    found = choose_by_kernel(candidates, {0, 1}, len(ranks))
    assert found.tolist() == choose_in_python(candidates, {0, 1}).tolist()


@given(TOKENS, st.integers(1, 9))
def test_the_kernel_cuts_where_plain_python_cuts(tokens: list[bytes], n_at_once: int) -> None:
    ranks = rank([*tokens, "▁é".encode(), "é".encode(), b"a" * 17, b"a" * 16])
    found = cuts_by_kernel(list(ranks), ranks, n_at_once)
    assert found.tolist() == cuts_in_python(list(ranks), ranks).tolist()


@given(
    st.lists(st.text("ab▁é🙂\ud800\n", max_size=20), unique=True, min_size=1, max_size=12),
    st.data(),
)
def test_the_kernel_numbers_the_merges_that_plain_python_numbers(
    texts: list[str], data: st.DataObject
) -> None:
    some = st.sampled_from(texts)
    merges = data.draw(st.lists(st.tuples(some, some), max_size=8))
    made = [left + right for left, right in merges]
    left_out = set(data.draw(st.lists(st.sampled_from(made), max_size=3))) if made else set()
    unknown = [text for text in made if text not in left_out and data.draw(st.booleans())]
    ids = {text: 5 * id for id, text in enumerate(dict.fromkeys([*texts, *unknown]))}
    try:
        expected = number_in_python(ids, merges, left_out).tolist()
    except KeyError:
        expected = None
    found = number_by_kernel(ids, merges, left_out)
    if found is None:  # the twin then names the text, or finds that it is left out
        assert expected is None or any(text not in ids for text in left_out)
    else:
        assert found.tolist() == expected


@given(
    st.lists(st.text("ab é", min_size=2, max_size=5), unique=True, max_size=12),
    st.text("ab é", min_size=1, max_size=20),
    st.booleans(),
)
def test_a_library_needs_only_the_merges_within_a_text(
    tokens: list[str], text: str, whole_words_first: bool
) -> None:
    ids = {token: id for id, token in enumerate([*"ab é", *tokens])}
    merges = [
        (token[:at], token[at:])
        for token in tokens
        for at in range(1, len(token))
        if token[:at] in ids and token[at:] in ids
    ]
    model = tokenizers.models.BPE(ids, merges, ignore_merges=whole_words_first)
    written = tokenizers.Tokenizer(model).to_str()
    fewer = keep_merges_within(parse_json(written.encode(), "tokenizer.json"), text)
    assert encode_once(json.dumps(fewer), text) == encode_once(written, text)
