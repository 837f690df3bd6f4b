"""The compiled encoder equals tiktoken and Hugging Face's tokenizers on long texts."""

from __future__ import annotations

import random
import sysconfig
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tiktoken

import bpe_core as bpe
from bpe_core.kernels import compile_kernels
from bpe_core.kernels.hashing import word_key
from bpe_core.kernels.word_cache import MAX_ROWS, WORD_ROW
from bpe_core.tokenizer import END_OF_TEXT, CompiledEncoder
from bpe_core.unicode import class_runs
from tests.oracles import GPT2_PATTERN, tiktoken_gpt2, tokenizers_gpt2

LIBRARY = Path(sysconfig.get_paths()["stdlib"])


@cache
def encoder() -> CompiledEncoder:
    return CompiledEncoder(bpe.gpt2().table, bpe.gpt2().pretokenizer)


def assert_same_ids(text: str) -> None:
    expected = tiktoken_gpt2().encode_ordinary(text)
    ids = encoder().encode(text)
    assert ids.dtype == np.int32
    assert encoder().to_list(ids) == expected == bpe.gpt2().encode(text)
    data = encoder().decode(ids)
    assert data is not None
    assert data.tobytes() == text.encode()


def sources(*folders: str) -> str:
    paths = [path for folder in folders for path in sorted((LIBRARY / folder).glob("*.py"))]
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def test_the_source_of_pythons_library_equals_both_oracles() -> None:
    # Code and prose, including the names of Unicode characters and encodings of many scripts.
    text = sources("encodings", "html", "pydoc_data", "email", "json")
    assert len(text) > 2_000_000
    assert_same_ids(text)
    some = text[:300_000]
    assert encoder().encode(some).tolist() == tokenizers_gpt2().encode(some).ids


def test_the_word_cache_grows_with_the_words_of_a_text_and_keeps_their_ids() -> None:
    drawn = random.Random(7)
    words = [
        " " + "".join(drawn.choices("etaoin", k=drawn.randrange(1, 13))) for _ in range(150_000)
    ]
    text = "".join(drawn.choices(words, k=400_000))
    expected = tiktoken_gpt2().encode_ordinary(text)
    growing = CompiledEncoder(bpe.gpt2().table, bpe.gpt2().pretokenizer)
    sizes: list[int] = []
    for _ in range(2):  # the second time mostly from the cache
        sizes.append(len(growing.kernels._workers[0].cache.others) // WORD_ROW)
        assert growing.to_list(growing.encode(text, n_threads=1)) == expected
    assert sizes[0] < sizes[1] <= MAX_ROWS
    growing.forget_words()
    assert not growing.kernels._workers
    assert growing.to_list(growing.encode(text, n_threads=1)) == expected


def test_long_words_with_equal_keys_keep_their_own_ids() -> None:
    def mixed(value: int) -> int:
        value = value * 0xFF51AFD7ED558CCD % 2**64
        return value ^ value >> 29

    # The key hashes eight bytes, then eight more. Choose the latter so that the keys are equal.
    firsts = [int.from_bytes(word, "little") for word in (b"abcdefgh", b"stuvwxyz")]
    last = int.from_bytes(b"ijklmnop", "little")
    lasts = [last, last ^ mixed(16 ^ firsts[0]) ^ mixed(16 ^ firsts[1])]
    words = [
        first.to_bytes(8, "little") + last.to_bytes(8, "little")
        for first, last in zip(firsts, lasts, strict=True)
    ]
    with np.errstate(over="ignore"):
        one, other = (
            word_key(np.frombuffer(word, np.uint8), np.uint64(0), np.uint64(16)) for word in words
        )
    assert one == other
    # Every two adjacent bytes are a token, so that no word is cut.
    pairs = sorted({pair for word in words for pair in pairwise(word)})
    tokenizer = bpe.Tokenizer(
        vocab={
            **{byte: bytes([byte]) for byte in range(256)},
            **{256 + n: bytes(pair) for n, pair in enumerate(pairs)},
        },
        merges=[(*pair, 256 + n) for n, pair in enumerate(pairs)],
        pretokenizer="gpt2",
    )
    compiled = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    for _ in range(2):  # the second time with both in the cache
        data = compiled.decode(compiled.encode_words(words)[0])
        assert data is not None
        assert data.tobytes() == b"".join(words)
    assert compiled.kernels._workers[0].cache.used[2] == 32


def test_every_code_point_equals_tiktoken() -> None:
    assert_same_ids("".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000))


@pytest.mark.parametrize(
    "context", ["{}", "a{}", "{}a", " {}", "'{}", "{} ", "1{}1", "{0}{0}", "\n{}\n"]
)
def test_characters_of_every_class_equal_both_oracles(context: str) -> None:
    starts, _ = class_runs()
    code_points = {*starts, *(start - 1 for start in starts[1:]), *range(0, 0x110000, 1_000)}
    characters = [chr(c) for c in sorted(code_points) if not 0xD800 <= c < 0xE000]
    text = "\x00¶".join(map(context.format, characters))
    assert_same_ids(text)
    assert encoder().encode(text).tolist() == tokenizers_gpt2().encode(text).ids


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        "\n",
        "\t",
        "0",
        "1234567890",
        "ab",
        "é",
        "日本語",
        "🙂",
        "👩\u200d👧",
        "!",
        "=",
        " a",
        "'s",
        "''s",
        "aAbB",
        "\u3000",
        " \u3000",
        "\u0301",
        "\x00",
        "a\u0301",
        "ffi",
        "--",
    ],
)
def test_long_repetitions_equal_tiktoken(unit: str) -> None:
    for n in (1, 15, 16, 31, 32, 33, 255, 256, 257, 4_095, 8_192, 20_000):
        assert_same_ids((unit * n)[:n])
        assert_same_ids(f"x {unit * (n // len(unit))}.")
    text = unit * (20_000 // len(unit.encode()))
    assert encoder().encode(text).tolist() == tokenizers_gpt2().encode(text).ids


def test_random_bytes_decoded_as_text_equal_tiktoken() -> None:
    noise = np.random.default_rng(0).integers(0, 256, 200_000).astype(np.uint8).tobytes()
    assert_same_ids(noise.decode("latin-1"))
    assert_same_ids(noise.decode(errors="replace"))
    assert_same_ids(noise.decode("utf-16-le", errors="ignore"))


def test_random_letters_without_spaces_equal_tiktoken() -> None:
    random = np.random.default_rng(1)
    for letters in ("ab", "etaoin", "abcdefghijklmnopqrstuvwxyz", "的一是不了人我在有他这"):
        assert_same_ids("".join(random.choice(list(letters), 20_000).tolist()))


def to_tiktoken(tokenizer: bpe.Tokenizer) -> tiktoken.Encoding:
    # tiktoken's ids are ranks: first the bytes, then the merged tokens.
    ranks = {bytes([byte]): byte for byte in range(256)}
    for merge in tokenizer.merges:
        ranks[tokenizer.vocab[merge.id]] = 256 + merge.rank
    return tiktoken.Encoding(
        "trained", pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )


@pytest.mark.parametrize("vocab_size", [257, 300, 1_000, 5_000])
def test_trained_tokenizers_equal_tiktoken_with_their_merges(vocab_size: int) -> None:
    text = sources("json", "html") + "日本語の文章です。これは文章です。" * 50
    tokenizer = bpe.train(bpe.Corpus.from_text(text), bpe.TrainingConfig(vocab_size)).tokenizer
    oracle = to_tiktoken(tokenizer)
    trained = CompiledEncoder(tokenizer.table, tokenizer.pretokenizer)
    for sample in (text, text[::-1], "a" * 5_000, "=" * 5_000, text.replace(" ", "")):
        tokens = [tokenizer.vocab[id] for id in trained.encode(sample).tolist()]
        assert tokens == [oracle.decode_single_token_bytes(i) for i in oracle.encode(sample)]


def test_the_tokenizer_encodes_long_texts_with_the_kernels() -> None:
    compile_kernels()
    tokenizer = bpe.gpt2().truncated(50_000)
    plain = bpe.Tokenizer(
        vocab=tokenizer.vocab,
        merges=[(merge.left, merge.right, merge.id) for merge in tokenizer.merges],
        pretokenizer="gpt2",
        special_tokens=tokenizer.special_tokens,
    )
    text = (f"Ein 日本語 🙂 text,{END_OF_TEXT} and   more\n" * 8_000)[:-1]
    short = text[: 36 * 50]
    for allowed in (frozenset[str](), "all"):
        ids = tokenizer.encode(text, allowed)
        assert ids == tiktoken_gpt2().encode(text, allowed_special=allowed, disallowed_special=())
        assert tokenizer.encoder.kernels.worth(len(text)) is not None
        assert tokenizer.encode_to_numpy(text, allowed).tolist() == ids
        assert tokenizer.decode(ids) == tokenizer.decode(np.array(ids)) == text
        assert tokenizer.encode(short, allowed) == ids[: len(plain.encode(short, allowed))]
        segments = tokenizer.segments(text, allowed)
        assert [segment.id for segment in segments] == ids
        assert segments[:100] == plain.segments(short, allowed)[:100]
    texts = [short, "", text, "x"]
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(some) for some in texts]
