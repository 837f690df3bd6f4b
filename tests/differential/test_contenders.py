"""All exact contenders return the same ids, and every difference of longest match is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.lab import Differences
from bpe_core.lab.measurements import (
    ENCODERS,
    LongestMatch,
    encoders,
    expected_ids,
    merge_by_list_index,
    trainers,
)
from bpe_core.trainers import encode_reference

TEXT = "It overwrites 12 files…\n\n\tnaïve café, 日本語 🧩 <|endoftext|> aaaaaaaaaa  unbelievably"
EXACT = tuple(name for name in ENCODERS if name != "longest-match")


def by_name(tokenizer: bpe.Tokenizer, name: str) -> list[int]:
    contender = next(one for one in encoders(tokenizer) if one.name == name)
    return list(contender.prepare()(TEXT))


@pytest.mark.parametrize("name", EXACT)
def test_each_exact_encoder_returns_the_ids_of_gpt2(name: str) -> None:
    assert by_name(bpe.gpt2(), name) == bpe.gpt2().encode(TEXT) == expected_ids(bpe.gpt2())(TEXT)


@pytest.mark.parametrize("name", [name for name in EXACT if name != "tiktoken"])
def test_each_encoder_begins_with_the_normalizer(name: str) -> None:
    normalized = classroom_of_bytes().with_changes(pretokenizer="NFD+gpt2")
    assert by_name(normalized, name) == normalized.encode(TEXT)


def classroom_of_bytes() -> bpe.Tokenizer:
    documents = load_sample("notebook").documents
    return bpe.train(documents, bpe.TrainingConfig(300, special_tokens=())).tokenizer


def classroom() -> bpe.Tokenizer:
    config = bpe.TrainingConfig(
        60, pretokenizer="whitespace", base="characters", end_of_word="</w>", special_tokens=()
    )
    return bpe.train(bpe.Corpus.from_documents(load_sample("notebook").documents), config).tokenizer


@pytest.mark.parametrize("name", ["list-index", "hash-map", "trie"])
def test_encoders_agree_on_characters_with_a_marker_and_omit_unknown_ones(name: str) -> None:
    assert by_name(classroom(), name) == classroom().encode(TEXT, errors="skip")


@pytest.mark.parametrize("name", ["engine-cold", "tiktoken"])
def test_an_encoder_that_does_not_support_the_tokenizer_raises(name: str) -> None:
    with pytest.raises(bpe.ConfigError, match="marker"):
        by_name(classroom(), name)


@st.composite
def small_tokenizers(draw: st.DrawFn) -> bpe.Tokenizer:
    text = draw(st.text(alphabet="ab", min_size=2, max_size=40))
    config = bpe.TrainingConfig(12, base="characters", pretokenizer="none", special_tokens=())
    return bpe.train(bpe.Corpus.from_text(text + "ab"), config).tokenizer


@given(small_tokenizers(), st.text(alphabet="ab", max_size=30))
def test_the_list_of_merges_encodes_like_the_reference(tokenizer: bpe.Tokenizer, word: str) -> None:
    symbols = [tokenizer.base_ids[letter.encode()] for letter in word]
    merges: dict[tuple[int, int], bpe.Merge] = {merge.pair: merge for merge in tokenizer.merges}
    found = merge_by_list_index(symbols, list(merges), [merge.id for merge in tokenizer.merges])
    assert found == encode_reference(symbols, merges)


@given(small_tokenizers(), st.text(alphabet="ab", min_size=1, max_size=30))
def test_longest_match_takes_the_longest_token_at_each_position(
    tokenizer: bpe.Tokenizer, word: str
) -> None:
    symbols = [tokenizer.base_ids[letter.encode()] for letter in word]
    taken = [tokenizer.vocab[id].decode() for id in LongestMatch(tokenizer).encode(symbols)]
    tokens = {token.decode() for token in tokenizer.vocab.values()}
    assert "".join(taken) == word
    for token in taken:
        assert token == max((t for t in tokens if word.startswith(t)), key=len)
        word = word[len(token) :]


def test_every_word_on_which_longest_match_differs_is_found() -> None:
    found = Differences.of(bpe.gpt2(), TEXT + " overwrites")
    words = bpe.gpt2().pretokenizer.split(TEXT + " overwrites")
    assert found.n_pretokens == len(words)
    first = found.words[0]
    assert (first.text, first.count, found.n_differing) == (" overwrites", 2, 3)
    assert [bpe.gpt2().vocab[id] for id in first.ids] == [b" overw", b"rites"]
    assert [bpe.gpt2().vocab[id] for id in first.longest_match_ids] == [b" overwrite", b"s"]


def test_the_trainers_learn_the_same_merges() -> None:
    text = "\n".join(load_sample("multilingual").documents)[:6_000]
    reference, engine, theirs = (trainer.prepare()(text) for trainer in trainers(120))
    assert len(reference) == 120
    assert reference == engine == theirs
