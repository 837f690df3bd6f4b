"""Each reader of a vocabulary cuts a text as its definition says, tried with every way to cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.tokenizer import READERS, Reader, Tokenizer
from tests.strategies import tokenizers

words = st.text("ab", max_size=9) | st.builds(str.__mul__, st.just("a"), st.integers(0, 9))
any_tokenizer = st.one_of(
    tokenizers("ab", n_merges=8),
    tokenizers("ab", n_merges=8, base="characters"),
    tokenizers("ab", n_merges=8, end_of_word="."),
)


def ways(symbols: Sequence[int], spelled: dict[tuple[int, ...], int]) -> Iterator[list[int]]:
    """Yield every way to cut symbols into tokens, those with the longest first tokens first."""
    if not symbols:
        yield []
    for end in range(len(symbols), 0, -1):
        id = spelled.get((*symbols[:end],))
        if id is not None:
            yield from ([id, *rest] for rest in ways(symbols[end:], spelled))


def longest_first(symbols: Sequence[int], spelled: dict[tuple[int, ...], int]) -> list[int]:
    """Take the longest token, the leftmost of several, and go on in what is left on both sides."""
    for length in range(len(symbols), 0, -1):
        for start in range(len(symbols) - length + 1):
            id = spelled.get((*symbols[start : start + length],))
            if id is not None:
                before = longest_first(symbols[:start], spelled)
                return [*before, id, *longest_first(symbols[start + length :], spelled)]
    return []


def with_dropout(tokenizer: Tokenizer, symbols: list[int], p: float, seed: int) -> list[int]:
    """Ask each pair in the order of the merges, and merge the first that is not passed over."""
    random, ranks = Random(seed), tokenizer.table.ranks
    while True:
        pairs = sorted(
            (ranks[pair], at) for at, pair in enumerate(pairwise(symbols)) if pair in ranks
        )
        chosen = next((each for each in pairs if random.random() >= p), None)
        if chosen is None:
            return symbols
        rank, at = chosen
        symbols = [*symbols[:at], tokenizer.table.made[rank], *symbols[at + 2 :]]


def spelled_tokens(tokenizer: Tokenizer) -> dict[tuple[int, ...], int]:
    parts = tokenizer.table.parts

    def symbols(id: int) -> tuple[int, ...]:
        return (*symbols(parts[id][0]), *symbols(parts[id][1])) if id in parts else (id,)

    return {symbols(id): id for id in tokenizer.vocab}


@given(any_tokenizer, words, st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.integers(0, 9))
def test_each_reader_cuts_as_it_is_defined(
    tokenizer: Tokenizer, word: str, p: float, seed: int
) -> None:
    if not word:
        assert {(*bpe.encode_by(tokenizer, "", reader),) for reader in READERS} == {()}
        return
    ((symbols, _),) = tokenizer.table.pieces(word)
    assert symbols is not None
    spelled = spelled_tokens(tokenizer)
    every = list(ways(symbols, spelled))
    expected: dict[Reader, list[int]] = {
        "merges": tokenizer.encode(word),
        "left-to-right": every[0],
        "longest-first": longest_first(symbols, spelled),
        "fewest-tokens": min(every, key=len),
        "dropout": with_dropout(tokenizer, symbols, p, seed),
    }
    for reader in READERS:
        found = bpe.encode_by(tokenizer, word, reader, dropout=p, seed=seed)
        assert found == expected[reader], reader
    assert bpe.encode_by(tokenizer, word, "dropout", dropout=0, seed=seed) == expected["merges"]
    assert bpe.encode_by(tokenizer, word, "dropout", dropout=1, seed=seed) == symbols


TEXT = "Hello  Northamptonshire, it's 2024:\n\n\tnaïve 漢字 <|endoftext|>e\u0301"


@pytest.mark.parametrize("reader", READERS)
def test_readers_cut_the_same_pretokens_and_spell_the_text(reader: Reader) -> None:
    ids = bpe.encode_by("gpt2", TEXT, reader, dropout=0.3)
    gpt2 = bpe.gpt2()
    assert gpt2.decode(ids) == TEXT
    found = bpe.encode_by(gpt2, TEXT, reader, dropout=0.3, allowed_special="all")
    assert found.count(gpt2.special_tokens["<|endoftext|>"]) == 1
    one_by_one = [bpe.encode_by(gpt2, word, reader) for word in gpt2.pretokenizer.split(TEXT)]
    if reader != "dropout":
        assert ids == [id for ids in one_by_one for id in ids]


def test_gpt2s_vocabulary_cut_five_ways() -> None:
    gpt2 = bpe.gpt2()
    cut = {
        reader: "|".join(
            gpt2.vocab[id].decode()
            for id in bpe.encode_by(gpt2, " hypopituitarism", reader, seed=1)
        )
        for reader in READERS
    }
    assert cut == {
        "merges": " hyp|op|it|uit|ar|ism",
        "left-to-right": " hyp|op|itu|itar|ism",
        "longest-first": " hyp|o|pit|u|itar|ism",
        "fewest-tokens": " hyp|op|itu|itar|ism",
        "dropout": " hyp|op|itu|itar|ism",
    }


def test_steps_of_the_tokenizer_come_first() -> None:
    run = bpe.train(
        ["to be or not to be"] * 3,
        vocab_size=290,
        pretokenizer="metaspace",
        base="characters",
        byte_fallback=True,
    )
    for reader in READERS:
        ids = bpe.encode_by(run.tokenizer, "to bé", reader, dropout=0.0)
        assert run.tokenizer.decode(ids) == "to bé", reader
    assert bpe.encode_by(run, "to be", "left-to-right") == run.tokenizer.encode("to be")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reader": "shortest"}, "reader"),
        ({"reader": "dropout", "dropout": 1.5}, "from 0 to 1"),
        ({"reader": "dropout", "dropout": "0.1"}, "from 0 to 1"),
        ({"reader": "dropout", "seed": -1}, "seed"),
        ({"text": "\ud800"}, "surrogate"),
        ({"tokenizer": 5}, "tokenizer"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(bpe.BpeError, match=message):
        bpe.encode_by(**{"tokenizer": "gpt2", "text": "a", **arguments})  # pyright: ignore


def test_a_symbol_that_the_alphabet_lacks_is_named() -> None:
    tokenizer = Tokenizer(vocab={0: b"a"}, merges=[], pretokenizer="none")
    with pytest.raises(bpe.UnknownSymbolError, match="0x62"):
        bpe.encode_by(tokenizer, "ab", "fewest-tokens")
