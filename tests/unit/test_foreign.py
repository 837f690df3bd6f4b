"""Positions of another library's tokens in a text, worked out by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tokenizers
from tokenizers import models as library
from tokenizers import normalizers, pre_tokenizers

import bpe_core as bpe
from bpe_core.formats import ForeignTokenizer
from tests import foreign_models as models
from tests.foreign_models import library_encoder


def foreign(peer: tokenizers.Tokenizer) -> ForeignTokenizer:
    return library_encoder(models.described(peer))


def places(encoder: bpe.Encoder, text: str) -> list[tuple[bytes, int, int]]:
    return [(s.token, s.byte_start, s.byte_end) for s in encoder.segments(text)]


def small_word_piece() -> ForeignTokenizer:
    vocab = {"[UNK]": 0, "na": 1, "##ive": 2, "fi": 3, "##ne": 4, "!": 5}
    peer = tokenizers.Tokenizer(library.WordPiece(vocab, unk_token="[UNK]"))
    peer.normalizer = normalizers.BertNormalizer()
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return foreign(peer)


def test_a_normalizer_changes_tokens_but_not_their_positions() -> None:
    # ï loses its dots but still covers two bytes; the space between is in no token.
    assert places(small_word_piece(), "Naïve fine!") == [
        (b"na", 0, 2),
        (b"##ive", 2, 6),
        (b" ", 6, 7),
        (b"fi", 7, 9),
        (b"##ne", 9, 11),
        (b"!", 11, 12),
    ]


def test_a_character_split_into_several_tokens_belongs_to_the_last() -> None:
    peer = tokenizers.Tokenizer(library.BPE({"f": 0, "i": 1, "n": 2}, []))
    peer.normalizer = normalizers.NFKC()
    assert places(foreign(peer), "ﬁn") == [(b"f", 0, 0), (b"i", 0, 3), (b"n", 3, 4)]


def test_byte_tokens_of_one_character_share_it() -> None:
    assert places(foreign(models.byte_fallback()), "a漢") == [
        (b" a", 0, 1),
        (b"\xe6", 1, 2),
        (b"\xbc", 2, 3),
        (b"\xa2", 3, 4),
    ]


def test_an_added_leading_space_covers_no_bytes() -> None:
    prefixed = foreign(models.byte_level(prefix_space=True, vocab_size=257))
    assert places(prefixed, "é") == [(b" ", 0, 0), (b"\xc3", 0, 1), (b"\xa9", 1, 2)]


def test_an_unknown_character_makes_its_word_unknown() -> None:
    row = bpe.compare("fine zzz", [small_word_piece(), bpe.gpt2()]).rows[0]
    assert (row.n_tokens, row.unknown_bytes, row.dropped_bytes) == (3, 3, 1)
    assert (row.words.n_words, row.words.n_whole_words) == (2, 0)
    assert (row.bytes_per_token, row.covered_bytes_per_token) == (8 / 3, 4 / 3)


def test_special_tokens_are_text_unless_all_are_allowed() -> None:
    peer = models.word_piece()
    encoder = foreign(peer)
    assert encoder.special_tokens == {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}
    text = "[CLS] the first"
    assert encoder.encode(text)[0] != 1
    assert encoder.encode(text, allowed_special="all")[0] == 1
    assert encoder.encode(text, allowed_special=list(encoder.special_tokens))[0] == 1
    with pytest.raises(bpe.TokenizationError, match="1 of 3"):
        encoder.encode(text, allowed_special=["[CLS]"])


def test_truncation_post_processing_and_dropout_are_disabled() -> None:
    plain = models.described(models.byte_level())
    description: dict[str, Any] = {
        **plain,
        "truncation": {
            "direction": "Right",
            "max_length": 2,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "post_processor": models.described(models.word_piece())["post_processor"],
        "model": {**plain["model"], "dropout": 0.9},
    }
    text = "This is the first document. " * 3
    expected = models.byte_level().encode(text, add_special_tokens=False).ids
    encoder = library_encoder(description)
    assert all(encoder.encode(text) == expected for _ in range(5))


def test_each_model_has_its_own_fingerprint() -> None:
    one, other = foreign(models.unigram()), foreign(models.word_piece())
    assert one.fingerprint == foreign(models.unigram()).fingerprint != other.fingerprint
    assert one.model == "Unigram"
    assert one.engine == f"tokenizers {tokenizers.__version__}"
    assert b" M" in one.vocab.values()


def test_a_lone_surrogate_and_a_text_that_the_library_fails_on_are_refused() -> None:
    with pytest.raises(bpe.InvalidTextError):
        foreign(models.unigram()).encode("\ud800")
    without_unknown = tokenizers.Tokenizer(library.WordPiece({"a": 0}, unk_token="[UNK]"))
    with pytest.raises(
        bpe.TokenizationError,
        match=r"an unknown token that its vocabulary lacks: check its file\.$",
    ):
        foreign(without_unknown).segments("zebra")


@pytest.mark.parametrize(
    "described",
    [{}, {"model": None}, {"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}, {"x": []}],
)
def test_a_file_that_the_library_cannot_read_is_a_clear_error(described: dict[str, Any]) -> None:
    with pytest.raises(bpe.FormatError, match="cannot read this") as raised:
        library_encoder(described)
    # None of the library's own words, such as "untagged enum ModelWrapper".
    assert re.fullmatch(
        r"Hugging Face's tokenizers cannot read this as a tokenizer\.json"
        r"( \(line \d+, column \d+\))?\. Use the file as it was saved\.",
        str(raised.value),
    )
