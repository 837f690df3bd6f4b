"""Encoders that other libraries run take many texts at once, with the result of single calls."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.comparison import Terms
from bpe_core.corpus import parallel_texts
from bpe_core.formats import LibraryEncoder
from bpe_core.formats.running.run_by_library import SentencePieceTokenizer, TiktokenTokenizer
from bpe_core.tokenizer import Encoder, NamedEncoder, TokenColumns

SENTENCES = [sentence for text in parallel_texts() for sentence in text.sentences]
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"


@cache
def model(kind: str) -> bytes:
    """Return a small SentencePiece model with a piece for each byte, trained by the library."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=written,
        model_type=kind,
        vocab_size=1_000,
        character_coverage=0.99,
        byte_fallback=True,
        minloglevel=2,
    )
    return written.getvalue()


@cache
def encoder(name: str) -> SentencePieceTokenizer | TiktokenTokenizer:
    if name != "tiktoken":
        return SentencePieceTokenizer(model(name))
    special = bpe.gpt2().special_tokens
    ranks = {token: id for id, token in bpe.gpt2().vocab.items() if id not in special.values()}
    # A gap between the ids, as some published tokenizers have.
    return TiktokenTokenizer(ranks, GPT2_PATTERN, {"<|endoftext|>": 60_000})


each = pytest.mark.parametrize("name", ["bpe", "unigram", "tiktoken"])
texts = st.lists(
    st.text(
        st.one_of(st.sampled_from("the é\n 漢字😀ﬁ\u0301\u200d\x00"), st.characters(codec="utf-8")),
        max_size=30,
    ),
    max_size=4,
)


@pytest.mark.slow
@each
@given(texts=texts)
def test_a_batch_has_the_tokens_of_single_calls(name: str, texts: list[str]) -> None:
    tokenizer = encoder(name)
    placed = tokenizer.place_tokens(texts)
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]
    for text, columns in zip(texts, placed, strict=True):
        assert columns.ids[columns.ids >= 0].tolist() == tokenizer.encode(text)
        segments = tokenizer.segments(text)
        assert columns.ids.tolist() == [-1 if s.id is None else s.id for s in segments]
        assert columns.byte_starts.tolist() == [s.byte_start for s in segments]
        assert columns.byte_ends.tolist() == [s.byte_end for s in segments]


@pytest.mark.slow
@each
@given(text=st.text(st.sampled_from("the é\n 漢😀\u200d"), max_size=30))
def test_ids_are_decoded_as_by_the_library(name: str, text: str) -> None:
    tokenizer = encoder(name)
    ids = tokenizer.encode(text)
    if name == "tiktoken":
        assert tokenizer.decode(ids) == text
        assert tokenizer.decode_bytes(ids[:-1]) == b"".join(tokenizer.vocab[id] for id in ids[:-1])
        return
    peer = sentencepiece.SentencePieceProcessor(model_proto=model(name))
    for some in (ids, ids[1:]):
        assert tokenizer.decode(some) == peer.decode(some)
    begin = tokenizer.special_tokens["<s>"]  # which the library leaves out
    assert tokenizer.decode([begin, *ids]) == "<s>" + peer.decode(ids)


def spread_one_by_one(
    ids: Sequence[int], offsets: Sequence[tuple[int, int]], bytes_: set[int]
) -> list[tuple[int, int]]:
    found = list(offsets)
    for at in range(len(found) - 2, -1, -1):
        start, end = found[at]
        following, following_end = found[at + 1]
        if start == end == following and {ids[at], ids[at + 1]} <= bytes_:
            found[at] = start, following_end
    return found


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@given(text=st.text(st.sampled_from("the é漢😀ﬁ\u0301 "), max_size=30))
def test_all_bytes_of_a_character_get_its_place(kind: str, text: str) -> None:
    tokenizer = encoder(kind)
    peer = sentencepiece.SentencePieceProcessor(model_proto=model(kind))
    found = peer.encode(text, return_type="offset_mapping")
    bytes_ = {id for id in range(peer.vocab_size()) if peer.is_byte(id)}
    expected = spread_one_by_one(found["ids"], found["offsets"], bytes_)
    placed = [(s.start, s.end) for s in tokenizer.segments(text) if s.id in bytes_]
    of_bytes = [place for id, place in zip(found["ids"], expected, strict=True) if id in bytes_]
    assert placed == of_bytes


@each
def test_an_encoder_takes_batches_whole_or_copied(name: str) -> None:
    tokenizer = encoder(name)
    copy = pickle.loads(pickle.dumps(tokenizer))  # noqa: S301 - pickled here
    assert isinstance(tokenizer, Encoder)
    assert tokenizer.place_tokens([]) == []
    (a,), (b,) = tokenizer.place_tokens(["the 漢"]), copy.place_tokens(["the 漢"])
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.slow
@each
def test_short_documents_are_encoded_together_without_another_figure(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = encoder(name)
    corpus = bpe.Corpus.from_documents(SENTENCES * 5)
    place = tokenizer.place_tokens
    sizes: list[int] = []

    def noted(_: LibraryEncoder, texts: Sequence[str]) -> list[TokenColumns]:
        sizes.append(len(texts))
        return place(texts)

    monkeypatch.setattr(type(tokenizer), "place_tokens", noted)
    together = bpe.compare(corpus, [tokenizer])
    assert sum(sizes) == len(corpus.documents)
    assert len(sizes) < 5

    def one_by_one(_: LibraryEncoder, texts: Sequence[str]) -> list[TokenColumns]:
        return [columns for text in texts for columns in place([text])]

    monkeypatch.setattr(type(tokenizer), "place_tokens", one_by_one)
    assert bpe.compare(corpus, [tokenizer]) == together


@pytest.mark.parametrize("name", ["bpe", "tiktoken", "gpt2"])
def test_a_named_encoder_is_compared_as_the_encoder_in_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer: bpe.Encoder = bpe.gpt2() if name == "gpt2" else encoder(name)
    corpus = bpe.Corpus.from_documents(SENTENCES)
    expected = bpe.compare(corpus, [tokenizer, bpe.gpt2()])

    def refuse(*_: object) -> list[bpe.Segment]:
        raise AssertionError("one object for each token")

    monkeypatch.setattr(type(tokenizer), "segments", refuse)
    assert bpe.compare(corpus, [NamedEncoder("A name", tokenizer), bpe.gpt2()]) == expected


@each
def test_terms_are_cut_in_one_batch_as_one_by_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = encoder(name)
    terms = ["the", "漢字 😀", "naïve", *SENTENCES[:40]]
    one_by_one = [cuts for term in terms for cuts in Terms((term,)).cut(tokenizer)]
    for term, cuts in zip(terms, one_by_one, strict=True):
        for text, cut in zip((f" {term}", term), cuts, strict=True):
            segments = tokenizer.segments(text)
            assert cut.ids == tuple(segment.id for segment in segments)
            assert b"".join(cut.parts) == text.encode()
    place = tokenizer.place_tokens
    sizes: list[int] = []

    def noted(_: LibraryEncoder, texts: Sequence[str]) -> list[TokenColumns]:
        sizes.append(len(texts))
        return place(texts)

    monkeypatch.setattr(type(tokenizer), "place_tokens", noted)
    assert list(Terms(tuple(terms)).cut(tokenizer)) == one_by_one
    assert sizes == [2 * len(terms)]


def raised(name: str, many: list[str], allowed: str | tuple[str, ...] = ()) -> Iterator[Exception]:
    """Yield the error of a batch, and that of the single calls."""
    tokenizer = encoder(name)
    for call in (
        lambda: tokenizer.place_tokens(many, allowed),
        lambda: [tokenizer.segments(text, allowed) for text in many],
    ):
        with pytest.raises((bpe.InvalidTextError, bpe.TokenizationError)) as failed:
            call()
        yield failed.value


@each
def test_a_batch_with_a_bad_text_raises_the_error_of_the_single_call(name: str) -> None:
    many = [*SENTENCES[:20], "lone \ud800", *SENTENCES[20:40]]
    batch, single = raised(name, many)
    assert (type(batch), str(batch)) == (type(single), str(single))
    assert "U+D800" in str(batch)


def test_a_special_token_in_one_text_of_a_batch_is_refused() -> None:
    batch, single = raised("bpe", [*SENTENCES[:20], "a<s>"], "all")
    assert "only as an id" in str(batch) == str(single)


def test_a_pattern_that_drops_part_of_one_text_is_an_error_of_the_batch() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    letters = TiktokenTokenizer(ranks, "[a-z]+", {})
    assert [each.ids.tolist() for each in letters.place_tokens(["ab", ""])] == [[97, 98], []]
    for many in (["ab", "a b"], ["x" * 1_000] * 9 + ["-" * 1_000]):
        with pytest.raises(bpe.TokenizationError, match="drops a part of this text"):
            letters.place_tokens(many)


def test_allowed_special_tokens_are_found_in_a_batch() -> None:
    tokenizer = encoder("tiktoken")
    many = ["a<|endoftext|>b"] * 3 + SENTENCES
    for allowed, expected in (("all", True), ((), False)):
        found = [60_000 in columns.ids for columns in tokenizer.place_tokens(many, allowed)]
        assert found == [expected] * 3 + [False] * len(SENTENCES)
