"""The parts that tokens are joined from are the same whoever looks for them, and where."""

from __future__ import annotations

import json
from array import array
from itertools import chain

import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError
from bpe_core.formats.checking.probe import keep_merges_within
from bpe_core.formats.json_files import parse_json
from bpe_core.formats.recovered_merges import recover_merges
from bpe_core.formats.running.run_by_tokenizers import encode_once
from bpe_core.tokenizer.token_parts import choose_by_kernel, choose_in_python

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
    candidates = array("i", chain.from_iterable(data.draw(st.permutations(cut(ranks)))))
    found = choose_by_kernel(candidates, {0, 1}, len(ranks))
    assert found == choose_in_python(candidates, {0, 1})


@given(TOKENS, st.data())
def test_listed_merges_change_nothing_of_what_ranks_imply(
    tokens: list[bytes], data: st.DataObject
) -> None:
    ranks = rank(tokens)
    listed = [each for each in cut(ranks) if data.draw(st.booleans())]

    def recovered(*listed: list[tuple[int, int, int]]) -> object:
        try:
            return recover_merges(ranks, *listed)
        except FormatError as error:
            return str(error)

    assert recovered(listed) == recovered()


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
