"""Every way to encode finds special tokens at every position, and the last tokens of a text."""

from __future__ import annotations

from itertools import chain

import pytest

import bpe_core as bpe
from bpe_core.kernels import compile_kernels, for_callers
from bpe_core.tokenizer import compiled, encoding
from tests.cut_texts import CONTRACTIONS, TEXT, word_tokenizer


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    compile_kernels()


def expected_ids(tokenizer: bpe.Tokenizer, *parts: str) -> list[int]:
    """Return the ids of consecutive parts, each word encoded separately in plain Python."""
    special = tokenizer.special_tokens
    split = tokenizer.pretokenizer.split
    cut = [[part] if part in special else split(part) for part in parts]
    return [
        id
        for word in chain.from_iterable(cut)
        for id in ([special[word]] if word in special else tokenizer.encode(word))
    ]


def assert_found(tokenizer: bpe.Tokenizer, parts: list[str], expected: list[int]) -> None:
    """Fail unless every way to encode a text with special tokens finds the expected ids."""
    text = "".join(parts)
    assert tokenizer.encode(text, "all") == expected
    assert tokenizer.encode_to_numpy(text, "all").tolist() == expected
    assert tokenizer.encode_batch([text, "", text], "all") == [expected, [], expected]
    segments = tokenizer.segments(text, "all")
    assert [segment.id for segment in segments if segment.id is not None] == expected
    assert b"".join(text.encode()[s.byte_start : s.byte_end] for s in segments) == text.encode()


@pytest.mark.parametrize("name", ["gpt2", "o200k", "whitespace"])
@pytest.mark.parametrize("by_kernels", [False, True], ids=["plain", "kernels"])
def test_special_tokens_at_every_position_are_found(
    name: str, by_kernels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = word_tokenizer(name)
    layouts = [
        parts
        for at in range(len(TEXT) + 1)
        for a, b in [(TEXT[:at], TEXT[at:])]
        for parts in ([a, "<s>", b], [a, "<s>", "<s>", b], [a, "<s>", b, "<s>"], [a, "<s>§", b])
    ]
    expected = [expected_ids(tokenizer, *parts) for parts in layouts]
    monkeypatch.setattr(encoding, "MIN_BYTES_OF_CALL", 1 if by_kernels else 1_000_000)
    monkeypatch.setattr(encoding, "MIN_BYTES_TO_ENCODE", 0)
    assert (tokenizer.encoder.kernels.worth(100) is not None) is by_kernels
    for parts, ids in zip(layouts, expected, strict=True):
        assert_found(tokenizer, parts, ids)


ENDS_OF_TEXTS = ["", "we", *(f"we{each}" for each in CONTRACTIONS), " 12 "]


def with_kernels() -> bpe.Tokenizer:
    tokenizer = word_tokenizer("gpt2")
    tokenizer.encode("it's" * 60_000)
    return tokenizer


@pytest.mark.parametrize("n_repeats", [0, 300], ids=["plain", "kernels"])
@pytest.mark.parametrize("ending", ENDS_OF_TEXTS)
def test_the_last_tokens_are_not_lost(n_repeats: int, ending: str) -> None:
    tokenizer = with_kernels()
    text = "it's 12 " * n_repeats + ending
    assert (tokenizer.encoder.kernels.worth(len(text)) is not None) is (n_repeats > 0)
    for parts in ([text], [text, "<s>"], ["<s>", text, "<s>", "<s>"], [text, "<s>§"]):
        assert_found(tokenizer, parts, expected_ids(tokenizer, *parts))


@pytest.mark.slow
def test_the_last_tokens_are_not_lost_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(for_callers, "n_threads", lambda: 3)
    tokenizer = with_kernels()
    repeated = "it's 12 " * 70_000
    assert len(repeated) > compiled._MIN_BYTES_TO_SHARE
    ids = expected_ids(tokenizer, f"{repeated}we")[:-1]
    for ending in ENDS_OF_TEXTS[1:-1]:  # those that start with "w", before which `ids` ends
        text, expected = repeated + ending, ids + expected_ids(tokenizer, f" {ending}")
        assert tokenizer.encode(text) == expected
        assert tokenizer.encode(f"{text}<s>", "all") == [*expected, *expected_ids(tokenizer, "<s>")]
        assert tokenizer.encode_batch([text, ending]) == [expected, expected_ids(tokenizer, ending)]
