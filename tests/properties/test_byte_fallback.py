"""Merges of characters, with bytes for those outside the alphabet, by kernels and in Python."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.formats import tokenizer_from_dict, tokenizer_to_dict
from bpe_core.tokenizer import CompiledEncoder, Kernels, TextEncoder, TokenTable
from bpe_core.tokenizer.steps import AddedTokenFinder, IsolatingPretokenizer

# Some characters of each width in UTF-8 begin alike, so that beginnings are shared.
CHARACTERS = "ab(7\n >éêЖ漢漣漤一丁😀😁😿🧀"
characters = st.sampled_from(CHARACTERS)
texts = st.text(characters, max_size=80)


long_texts = st.lists(st.sampled_from([*CHARACTERS, "\n", "<b>", "a" * 70]), max_size=120).map(
    "".join
)
added = st.text(st.sampled_from("ab7(>éЖ漢\n<"), min_size=1, max_size=20)


@st.composite
def tokenizers(draw: st.DrawFn) -> bpe.Tokenizer:
    """Draw a tokenizer of some characters, with merges of them and bytes for the others.

    A merge may come before those that make its parts.
    """
    alphabet = draw(st.lists(characters, unique=True, max_size=10))
    vocab = {id: bytes([id]) for id in range(256)}
    ids = draw(st.permutations(range(256, 256 + len(alphabet))))
    vocab |= {id: each.encode() for id, each in zip(ids, alphabet, strict=True)}
    made: list[tuple[int, int, int]] = []
    pairs = set[tuple[int, int]]()
    for _ in range(draw(st.integers(0, 12)) if alphabet else 0):
        known = st.sampled_from([id for id in vocab if id >= 256])
        pair = draw(known), draw(known)
        if pair not in pairs and len(vocab[pair[0]] + vocab[pair[1]]) < 200:
            pairs.add(pair)
            id = max(vocab) + 1
            vocab[id] = vocab[pair[0]] + vocab[pair[1]]
            made.append((*pair, id))
    return bpe.Tokenizer(
        vocab=vocab,
        merges=draw(st.permutations(made)),
        pretokenizer=draw(st.sampled_from(["sentencepiece", "gemma3", "none", "gpt2"])),
        base="characters",
        byte_fallback=range(256),
    )


def merge_whole(tokenizer: bpe.Tokenizer, word: str) -> list[int]:
    """Merge a pre-token from its definition: the lowest rank first, the leftmost of equals."""
    characters = {token.decode(): id for token, id in tokenizer.base_ids.items()}
    ids: list[int] = []
    for character in word:
        spelled = [tokenizer.table.byte_ids[bytes([byte])] for byte in character.encode()]
        ids += [characters[character]] if character in characters else spelled
    for_pair = {merge.pair: merge for merge in reversed(tokenizer.merges)}
    while True:
        found = [for_pair[pair] for pair in pairwise(ids) if pair in for_pair]
        if not found:
            return ids
        first = min(found, key=lambda merge: merge.rank)
        at = list(pairwise(ids)).index(first.pair)
        ids[at : at + 2] = [first.id]


@given(tokenizers(), texts)
def test_kernels_and_python_merge_as_defined(tokenizer: bpe.Tokenizer, text: str) -> None:
    words = tokenizer.pretokenizer.split(text)
    expected = [id for word in words for id in merge_whole(tokenizer, word)]
    assert tokenizer.encode(text) == expected
    compiled = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    assert compiled.encode(text).tolist() == expected
    ids, ends = compiled.encode_batch([text, "", text[::-1]])
    assert ids[: ends[0]].tolist() == expected
    assert ends[0] == ends[1] <= ends[2] == len(ids)
    of_words, ends = compiled.encode_words([word.encode() for word in words])
    assert of_words.tolist() == expected
    assert np.diff(ends, prepend=0).tolist() == [len(merge_whole(tokenizer, w)) for w in words]
    assert tokenizer.decode(expected) == text
    assert b"".join(each.token for each in tokenizer.segments(text)) == text.encode()
    assert [id for each in tokenizer.explain(text) for id in each.ids] == expected


@given(tokenizers(), st.lists(added, unique=True, min_size=1, max_size=6), long_texts)
def test_added_tokens_are_isolated_by_kernels_and_in_python(
    tokenizer: bpe.Tokenizer, tokens: list[str], text: str
) -> None:
    assume(tokenizer.pretokenizer.name != "gpt2")  # whose cuts depend on what is around them
    ids = {token: 1_000 + number for number, token in enumerate(tokens)}
    expected = [
        id
        for piece, token in AddedTokenFinder(ids).split(text, set())
        for id in ([token] if token is not None else tokenizer.encode(piece))
    ]
    vocab = {**tokenizer.vocab, **{id: token.encode() for token, id in ids.items()}}
    table = TokenTable(
        vocab=vocab,
        merges=tokenizer.table.triples,
        base="characters",
        special_tokens=ids,
        byte_fallback=range(256),
    )
    cut = IsolatingPretokenizer(tokenizer.pretokenizer.name, ids)
    plain = TextEncoder(table, cut, Kernels(table, cut))
    assert plain.encode(text, frozenset(), "strict") == expected
    compiled = CompiledEncoder(table, cut)
    assert compiled.encode(text).tolist() == expected
    assert compiled.encode_batch([text, text])[0].tolist() == 2 * expected
    compiled.forget_words()  # the added tokens too
    assert compiled.encode(text).tolist() == expected
    assert compiled.encode(text).tolist() == expected


@pytest.mark.parametrize(("token", "stored"), [("<b>", [2, 0]), ("<b>" * 4, [0, 3])])
def test_an_added_token_takes_one_place_in_the_word_cache(token: str, stored: list[int]) -> None:
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" ", 257: token.encode()}
    table = TokenTable(
        vocab=vocab,
        merges=[],
        base="characters",
        special_tokens={token: 257},
        byte_fallback=range(256),
    )
    encoder = CompiledEncoder(table, IsolatingPretokenizer("sentencepiece", {token: 257}))
    encoder.forget_words()
    assert encoder.encode(100 * token).tolist() == 100 * [257]
    (worker,) = encoder.kernels._workers
    assert [np.count_nonzero(each) for each in worker.cache[:2]] == stored
    assert not worker.cache.used.any()  # no word was lost


@given(tokenizers())
def test_copies_and_files_keep_the_bytes(tokenizer: bpe.Tokenizer) -> None:
    assert copy.deepcopy(tokenizer) == tokenizer
    assert tokenizer.truncated(tokenizer.n_merges) == tokenizer
    assert tokenizer_from_dict(tokenizer_to_dict(tokenizer)) == tokenizer


@pytest.mark.parametrize("name", ["sentencepiece", "gemma3"])
@given(st.text(st.sampled_from("ab >\n漢\t\u3000"), max_size=40))
def test_a_cut_is_before_a_space_that_follows_something_else(name: str, text: str) -> None:
    words = bpe.get_pretokenizer(name).split(text)
    assert "".join(words) == text
    starts = np.cumsum([0, *map(len, words)])[:-1].tolist()
    crossed = " >" if name == "gemma3" else " "
    places = range(1, len(text))
    expected = [i for i in places if text[i] == " " and text[i - 1] not in crossed]
    assert starts == ([0, *expected] if text else [])
