"""The size of the tokenizers' word caches is bounded."""

from __future__ import annotations

from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.tokenizer.tokenizer_kernels import WordCache


def test_a_full_cache_is_cleared_and_still_returns_every_word() -> None:
    asked: list[str] = []

    def length(word: str) -> int:
        asked.append(word)
        return len(word)

    lengths = WordCache(length, max_words=3)
    assert [lengths[word] for word in ("a", "bb", "ccc", "a", "dddd", "a")] == [1, 2, 3, 1, 4, 1]
    assert asked == ["a", "bb", "ccc", "dddd", "a"]
    assert set(lengths) == {"dddd", "a"}


def test_a_long_word_is_not_cached() -> None:
    lengths = WordCache(len)
    assert lengths["a" * 201] == 201
    assert lengths["a" * 200] == 200
    assert list(lengths) == ["a" * 200]


def test_a_tokenizer_caches_fewer_layouts_than_ids() -> None:
    digits = {digit: bytes([48 + digit]) for digit in range(10)}
    tokenizer = Tokenizer(vocab={**digits, 10: b" "}, merges=[], pretokenizer="gpt2")
    text = " ".join(map(str, range(10_000, 25_000)))
    assert b"".join(segment.token for segment in tokenizer.segments(text)) == text.encode()
    assert (
        len(tokenizer._encoder.word_layouts) <= 10_000 < len(tokenizer._encoder.word_ids) == 15_000
    )
