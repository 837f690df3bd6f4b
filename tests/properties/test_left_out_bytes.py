"""Bytes that a vocabulary lacks are left out of texts, as `tokenizers` leaves them out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.formats import ForeignTokenizer
from bpe_core.formats.patterns import BY_REGEX, FALCON, STEPS
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.tokenizer import CompiledEncoder, Kernels, TextEncoder, Tokenizer
from bpe_core.unicode import to_printable
from tests.foreign_models import library_encoder, native_encoder
from tests.strategies import hostile_texts

BY_BYTES = {**BY_REGEX, "use_regex": False}
TRIMMED = {"trim_offsets": True}
CUTS = {
    "none": (BY_BYTES,),
    "whitespace": ({"type": "WhitespaceSplit"}, BY_BYTES),
    "gpt2": (BY_REGEX,),
    "starcoder": STEPS["starcoder"],
    "deepseek-v3": (*STEPS["deepseek-v3"], BY_BYTES),
    "falcon": FALCON,
}
LACKING = b"\x01\x03\t#d"
MERGED = [bytes([byte]) for byte in b"ab. \xb2\xb3\xf0\x9f\x92\xf2\xc3\xa9"]

in_words = st.sampled_from(
    [*"ab. \x01\x03\t#d1é²💲💳", "\U000b3000", "ab", "a\x01b", " #", "..\x03."]
)
some_texts = st.one_of(
    st.lists(in_words, max_size=40).map("".join),
    st.lists(st.one_of(in_words, hostile_texts), max_size=8).map("".join),
)


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a tokenizer.json that lacks some ASCII bytes, and perhaps one that begins characters."""
    lacking = {*LACKING, *draw(st.sampled_from([b"", b"\xf2", b"\xc3"]))}
    tokens = [bytes([byte]) for byte in range(256) if byte not in lacking]
    ids = {token: id for id, token in enumerate(tokens)}
    known = [token for token in MERGED if token in ids]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(draw(st.integers(0, 24))):
        pair = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        if b"".join(pair) not in ids:
            ids[b"".join(pair)] = len(ids)
            known.append(b"".join(pair))
            merges.append(pair)
    name = draw(st.sampled_from(list(CUTS)))
    return {
        "added_tokens": [],
        "normalizer": draw(st.sampled_from([None, {"type": "NFC"}])),
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{**part, **TRIMMED} for part in CUTS[name]],
        },
        "model": {
            "type": "BPE",
            "ignore_merges": draw(st.booleans()),
            "vocab": {to_printable(token): id for token, id in ids.items()},
            "merges": [" ".join(map(to_printable, pair)) for pair in merges],
        },
    }


@given(files(), some_texts)
def test_ids_and_segments_equal_the_library(described: dict[str, Any], text: str) -> None:
    native, library = (
        native_encoder(described),
        library_encoder(described),
    )
    assert native.encode(text) == library.encode(text)
    placed = [part.id for part in native.segments(text) if part.id is not None]
    assert placed == native.encode(text)


@given(files(), st.lists(some_texts, min_size=1, max_size=4), st.integers(1, 40))
def test_kernels_leave_bytes_out_as_plain_python_does(
    described: dict[str, Any], some: list[str], times: int
) -> None:
    tokenizer = native_encoder(described)
    encoder = compiled(tokenizer)
    for text in [*some, "".join(some) * times]:
        for left_out in (LACKING, b"\x01", b"ab"):
            ids = encoder.encode(text, left_out=left_out)
            assert ids.tolist() == encode_without(tokenizer, text, left_out)


def compiled(tokenizer: Tokenizer) -> CompiledEncoder:
    """Return kernels for texts as they are cut, with ids for missing bytes."""
    cut = get_pretokenizer(tokenizer.pretokenizer.cut)
    return CompiledEncoder(tokenizer.table.with_all_bytes(), cut)


def encode_without(tokenizer: Tokenizer, text: str, left_out: bytes) -> list[int]:
    """Return the ids of words without some bytes of ASCII, one word after another."""
    cut, gone = get_pretokenizer(tokenizer.pretokenizer.cut), dict.fromkeys(left_out)
    table = tokenizer.table.with_all_bytes()
    encoder = TextEncoder(table, cut, Kernels(table, cut))
    return [id for word in cut.split(text) for id in encoder.word_ids[word.translate(gone)]]


def both(
    lacking: bytes, tokens: list[str], merges: list[str], cut: str = "gpt2", whole: bool = False
) -> tuple[Tokenizer, ForeignTokenizer]:
    known = [to_printable(bytes([byte])) for byte in range(256) if byte not in lacking]
    described = {
        "added_tokens": [],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{**part, **TRIMMED} for part in CUTS[cut]],
        },
        "model": {
            "type": "BPE",
            "ignore_merges": whole,
            "vocab": {token: id for id, token in enumerate([*known, *tokens])},
            "merges": merges,
        },
    }
    return native_encoder(described), library_encoder(described)


@pytest.mark.slow
@pytest.mark.parametrize("text", [".", "-.-", ".--.", "a.a", " .", "-" * 9 + "." * 9 + "-" * 9])
def test_merges_join_what_was_on_both_sides(text: str) -> None:
    native, library = both(b".", ["--", "aa"], ["- -", "a a"])
    assert native.encode(text) == library.encode(text)
    long = (text + " x ") * (600_000 // (len(text) + 3))  # enough for several blocks
    in_blocks = compiled(native)
    for n_threads in (1, 2):
        assert in_blocks.encode(long, n_threads, left_out=b".").tolist() == library.encode(long)


def test_words_that_lose_all_bytes_do_not_overfill_a_buffer() -> None:
    native, library = both(b"#", [], [], "whitespace")
    text = ("-" * 8189 + "é" + " #" * 8000 + " ") * 10
    assert native.encode(text) == library.encode(text)


def test_words_longer_than_a_buffer_of_the_scanner_lose_bytes_too() -> None:
    native, library = both(b".", ["--", "aa"], ["- -", "a a"])
    text = "--." * 20_000 + " aaa " + "a" * 30_000
    encoder = compiled(native)
    assert encoder.encode(text, left_out=b".").tolist() == library.encode(text)


def test_merges_join_nothing_that_a_step_cut_between_bytes() -> None:
    native, library = both(b"\xf2", ["²³"], ["² ³"], "falcon")
    text = "💲\U000b3000"  # F0 9F 92 B2, F2 B3 80 80
    assert native.encode(text) == library.encode(text)
    by_kernels = compiled(native)
    assert by_kernels.encode(text, left_out=native.left_out).tolist() != native.encode(text)
    assert [native.vocab[id] for id in native.encode(text)][3:5] == [b"\xb2", b"\xb3"]


def test_a_word_is_not_looked_up_without_the_bytes_left_out() -> None:
    native, library = both(b"#", ["..."], [], whole=True)
    texts = ("...", ".#..", "#...")
    assert [len(native.encode(text)) for text in texts] == [1, 3, 3]
    assert [native.encode(text) for text in texts] == [library.encode(text) for text in texts]


@pytest.mark.parametrize("cut", ["sentencepiece", "gemma3"])
def test_bytes_are_left_out_of_words_that_end_only_before_spaces(cut: str) -> None:
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b"ab"}
    tokenizer = bpe.Tokenizer(vocab=vocab, merges=[(97, 98, 256)], pretokenizer=cut)
    encoder = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    ids = encoder.encode("a\tb ab", left_out=b"\t").tolist()
    assert ids.count(256) == 2
    assert ids == encode_without(tokenizer, "a\tb ab", b"\t")
