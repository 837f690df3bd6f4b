"""Properties that hold for every text, with GPT-2's vocabulary and with trained ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.tokenizer import merge_steps
from bpe_core.tokenizer.rank_merging import merge_by_heap, merge_by_scan
from bpe_core.trainers import encode_reference, split_symbols
from tests.strategies import hostile_texts

TEXT = (
    "low lower lowest newest newer aaaa aaab abab banana bandana é 你好 🙂 ''s to-day, 'tis 42\n"
    * 3
)


def trained(config: bpe.TrainingConfig) -> bpe.Tokenizer:
    return bpe.train(bpe.Corpus.from_text(TEXT), config).tokenizer


TOKENIZERS = [
    bpe.gpt2(),
    bpe.gpt2().truncated(1_000),
    *(
        trained(bpe.TrainingConfig(290, pretokenizer=name, special_tokens=("<|endoftext|>", "é")))
        for name in ("gpt2", "cl100k", "o200k", "none", r"regex:\w+|\s+")
    ),
]
DROPPING = [
    trained(bpe.TrainingConfig(300, pretokenizer="whitespace", end_of_word="</w>")),
    trained(
        bpe.TrainingConfig(70, pretokenizer="whitespace", base="characters", end_of_word="</w>")
    ),
    trained(bpe.TrainingConfig(70, pretokenizer="words-punctuation", base="characters")),
    trained(bpe.TrainingConfig(90, pretokenizer="gpt2", alphabet="seen", special_tokens=())),
]
some_symbols = st.one_of(
    st.lists(st.integers(0, 2), max_size=60),
    st.builds(list.__mul__, st.lists(st.integers(0, 1), max_size=3), st.integers(0, 40)),
)


@st.composite
def merge_tables(draw: st.DrawFn) -> dict[tuple[int, int], bpe.Merge]:
    """Draw merges over three symbols, each of parts that exist before it."""
    merges: dict[tuple[int, int], bpe.Merge] = {}
    for rank in range(draw(st.integers(0, 12))):
        known = st.integers(0, 2 + rank)
        pair = draw(st.tuples(known, known).filter(lambda pair: pair not in merges))
        merges[pair] = bpe.Merge(rank, *pair, 3 + rank)
    return merges


@given(st.sampled_from(TOKENIZERS), hostile_texts)
def test_decoding_restores_the_text(tokenizer: bpe.Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text), errors="strict") == text
    with_specials = tokenizer.encode(text, allowed_special="all")
    assert tokenizer.decode(with_specials, errors="strict") == text


@given(st.sampled_from(TOKENIZERS + DROPPING), hostile_texts, st.sampled_from([(), "all"]))
def test_segments_cover_every_byte_once(
    tokenizer: bpe.Tokenizer, text: str, allowed_special: tuple[str, ...]
) -> None:
    data = text.encode()
    segments = tokenizer.segments(text, allowed_special)
    ids = [segment.id for segment in segments if segment.id is not None]
    assert ids == tokenizer.encode(text, allowed_special, errors="skip")
    at = 0
    for segment in segments:
        assert segment.byte_start == at
        at = segment.byte_end
        own = data[segment.byte_start : segment.byte_end]
        if segment.id is None:
            assert segment.token == own != b""
        else:
            assert segment.token == tokenizer.vocab[segment.id]
            assert segment.token.startswith(own)
            assert own == segment.token or segment.id in tokenizer.table.ending_word
        # A segment covers the characters from that of its first byte to that of its last.
        assert len(text[: segment.start].encode()) <= segment.byte_start
        if own:
            assert len(text[: segment.start + 1].encode()) > segment.byte_start
            assert len(text[: segment.end - 1].encode()) < segment.byte_end
            assert len(text[: segment.end].encode()) >= segment.byte_end
        else:
            assert segment.start == segment.end
    assert at == len(data)


@given(st.sampled_from(TOKENIZERS + DROPPING), hostile_texts)
def test_explaining_ends_with_the_ids_of_encoding(tokenizer: bpe.Tokenizer, text: str) -> None:
    explained = tokenizer.explain(text, errors="skip")
    assert [id for each in explained for id in each.ids] == tokenizer.encode(text, errors="skip")
    for each in explained:
        before = each.symbols
        for step in each.steps:
            assert encode_reference(before, {step.merge.pair: step.merge}) == list(step.symbols)
            before = step.symbols


@given(st.sampled_from(DROPPING), hostile_texts)
def test_strict_raises_exactly_if_skip_omits_something(tokenizer: bpe.Tokenizer, text: str) -> None:
    unknown = [
        symbol
        for word in tokenizer.pretokenizer.split(text)
        for symbol in split_symbols(word.encode(), tokenizer.base)
        if symbol not in tokenizer.base_ids
    ]
    if unknown:
        with pytest.raises(bpe.UnknownSymbolError, match="has no"):
            tokenizer.encode(text)
    else:
        assert tokenizer.encode(text) == tokenizer.encode(text, errors="skip")


@given(merge_tables(), some_symbols)
def test_both_encoders_equal_the_reference(
    merges: dict[tuple[int, int], bpe.Merge], symbols: list[int]
) -> None:
    ranks = {pair: merge.rank for pair, merge in merges.items()}
    made = [merge.id for merge in merges.values()]
    expected = encode_reference(symbols, merges)
    assert merge_by_heap(symbols, ranks, made) == expected
    assert merge_by_scan(symbols, ranks, made) == expected
    steps = list(merge_steps(symbols, ranks, made))
    assert [rank for rank, _ in steps] == sorted(rank for rank, _ in steps)
    assert (list(steps[-1][1]) if steps else symbols) == expected


@settings(max_examples=15, deadline=None)  # each makes a tokenizer of up to 50,000 merges
@given(st.integers(0, 50_000), hostile_texts)
def test_a_truncated_tokenizer_uses_only_its_first_merges(n_merges: int, text: str) -> None:
    whole = bpe.gpt2()
    merges = {merge.pair: merge for merge in whole.merges[:n_merges]}
    ids: list[int] = []
    for word in whole.pretokenizer.split(text):
        ids += encode_reference([whole.base_ids[bytes([b])] for b in word.encode()], merges)
    assert whole.truncated(n_merges).encode(text) == ids
