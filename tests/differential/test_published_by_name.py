"""Each tokenizer that can be fetched by name gives the ids of its publisher's library."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import sentencepiece
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus import parallel_texts
from bpe_core.formats import CATALOGUE
from bpe_core.formats.gguf.gguf_header import parse_gguf
from bpe_core.formats.gguf.gguf_vocabulary import from_gguf
from bpe_core.tokenizer import Encoder
from tests.more_cases import first_of
from tests.oracles import TOKENIZERS, one_at_a_time, opened_by_name, tiktoken_gpt2
from tests.strategies import hostile_texts, texts

Ids = Callable[[str], list[int]]
Text = Callable[[list[int]], str]
_O200K_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_O200K_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
# Copied from the publishers' code, because their .tiktoken files hold no patterns.
PATTERNS = {
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "llama4": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_O200K_UPPER}*{_O200K_LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_O200K_UPPER}+{_O200K_LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
# These take seconds to open, so one test leaves them out.
LARGE = ("gemma", "gemma3", "gemini", "command-r")
WITH_ADDED = ("deepseek-v3", "claude-2", "falcon")
OTHERS = [*WITH_ADDED, *(name for name in CATALOGUE if name not in (*WITH_ADDED, *LARGE))]
FIRST = ("deepseek-v3", "llama3", "mistral-7b", "qwen2")
each = pytest.mark.parametrize("name", first_of([*OTHERS, *LARGE], *FIRST), indirect=True)
CATASTROPHES = ["^" * 3_000, "a" * 20_000, " " * 3_000, "\n" * 2_000, "\r\n" * 500, "0" * 2_000]
PLACES = [
    "",
    " ",
    "Hello  world\u0085 \u3000x\ufeff",
    "I'LL we'Ve 'ſ don'T",
    "👩‍👩‍👧🏽 🇪🇺 e\u0301 ﬁ ½²Ⅷ १२३ 1234567",
    "<|begin_of_text|> <s>[INST]</s> <unk> <|endoftext|> <bos>",
    "<｜fim▁hole｜><｜User｜> <think>\n</think><|EOT|><|YES_TOKEN|>",
    "cafe\u0301 Å ① ㎏ Ω \u0344 각",
    "però nò1 12½345 ½²¹ ½12345 \x03\U00050000\U00080000\U000f0000",
    "▁ ▁▁x ##ing Ġ <0x41>",
    "\x00\x1c\x7f\t\x0b\x0c",
]


@cache
def oracle(name: str) -> tuple[Ids, Text]:
    """Return what encodes and decodes with the publisher's library, without this package."""
    if name == "gpt2":
        return tiktoken_gpt2().encode_ordinary, tiktoken_gpt2().decode
    found = CATALOGUE[name]
    data = (TOKENIZERS / found.file_name).read_bytes()
    if found.file_name.endswith(".tiktoken"):
        lines = [line.split() for line in data.splitlines() if line]
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        encoding = {"gpt4": "cl100k_base", "gpt4o": "o200k_base", "gpt-oss": "o200k_harmony"}.get(
            name
        )
        if encoding is not None:
            module = __import__("tiktoken_ext.openai_public", fromlist=[""])
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(module, "load_tiktoken_bpe", lambda *_, **__: ranks)
                peer = tiktoken.Encoding(**getattr(module, encoding)())
            return peer.encode_ordinary, peer.decode
        peer = tiktoken.Encoding(
            name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
        )
        return peer.encode_ordinary, peer.decode
    if name == "mistral-nemo":
        described = json.loads(data)
        config = described["config"]
        n_special = config["default_num_special_tokens"]
        inner = described["vocab"][: config["default_vocab_size"] - n_special]
        ranks = {base64.b64decode(each["token_bytes"]): each["rank"] for each in inner}
        peer = tiktoken.Encoding(
            name, pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={}
        )
        return (
            lambda text: [id + n_special for id in peer.encode_ordinary(text)],
            lambda ids: peer.decode([id - n_special for id in ids]),
        )
    if found.file_name.endswith(".model"):
        model = sentencepiece.SentencePieceProcessor(model_proto=data)
        return model.encode, model.decode
    return (
        lambda text: encode_by_library(name, text, with_added=False),
        lambda ids: library(name).decode(ids, skip_special_tokens=False),
    )


@cache
def library(name: str) -> tokenizers.Tokenizer:
    data = (TOKENIZERS / CATALOGUE[name].file_name).read_bytes()
    if CATALOGUE[name].file_name.endswith(".gguf"):
        data = json.dumps(from_gguf(parse_gguf(data))).encode()
    return tokenizers.Tokenizer.from_str(data.decode())


def encode_by_library(name: str, text: str, *, with_added: bool) -> list[int]:
    library(name).encode_special_tokens = not with_added
    return library(name).encode(text, add_special_tokens=False).ids


name = one_at_a_time(oracle, library, opened_by_name)


def assert_same(name: str, text: str) -> None:
    encode, _ = oracle(name)
    assert opened_by_name(name).encode(text) == encode(text)


@each
def test_what_is_opened_names_its_publisher_and_its_engine(name: str) -> None:
    opened, found = opened_by_name(name), CATALOGUE[name]
    assert isinstance(opened, Encoder)
    assert opened.name == found.title
    assert opened.provenance.startswith(f"Published by {found.publisher} ({found.licence}).")
    assert opened.engine.split()[0] in ("bpe_core", "tiktoken", "tokenizers", "sentencepiece")
    assert opened.engine in opened.provenance
    assert len(opened.vocab) == opened.vocab_size
    assert len(opened.fingerprint) == 64


@each
def test_hostile_places_equal_the_library(name: str) -> None:
    for text in (*PLACES, *CATASTROPHES):
        assert_same(name, text)


@each
def test_what_an_own_tokenizer_can_do_equals_the_library(name: str) -> None:
    opened, (encode, decode) = opened_by_name(name), oracle(name)
    texts = [*PLACES, *(text.sentences[0] for text in parallel_texts())]
    expected = [encode(text) for text in texts]
    assert opened.encode_batch(iter(texts)) == expected
    for text, ids in zip(texts, expected, strict=True):
        array = opened.encode_to_numpy(text)
        assert array.dtype == np.int32
        assert array.tolist() == ids
        assert opened.decode(ids) == opened.decode(array) == decode(ids)
        assert opened.decode_bytes(ids).decode(errors="replace") == decode(ids)
        assert opened.decode(ids[1:]) == decode(ids[1:])  # it may begin within a character
    with pytest.raises(bpe.InvalidTokenIdError, match="There is no token with id 999999"):
        opened.decode([999_999])


@each
def test_sentences_of_many_languages_equal_the_library(name: str) -> None:
    for text in parallel_texts():
        for sentence in text.sentences:
            assert_same(name, sentence)


@pytest.mark.parametrize("name", first_of(OTHERS, *FIRST), indirect=True)
@settings(max_examples=200)
@given(text=st.one_of(hostile_texts, texts))
def test_ids_equal_the_library(name: str, text: str) -> None:
    assert_same(name, text)


@pytest.mark.parametrize("name", WITH_ADDED, indirect=True)
@settings(max_examples=60)
@given(data=st.data())
def test_ids_equal_the_library_among_added_tokens(name: str, data: st.DataObject) -> None:
    encoder = opened_by_name(name).encoder
    assert isinstance(encoder, bpe.Tokenizer)
    added = st.sampled_from([*encoder.table.special_tokens, " ", "\n", "e\u0301", "ò", "\x03"])
    text = "".join(data.draw(st.lists(st.one_of(added, hostile_texts), max_size=8)))
    assert_same(name, text)
    ids = encode_by_library(name, text, with_added=True)
    assert encoder.encode(text, "all") == ids
    assert [part.id for part in encoder.segments(text, "all") if part.id is not None] == ids


@each
@settings(max_examples=30)
@given(text=st.one_of(hostile_texts, texts))
def test_segments_cover_each_byte_once(name: str, text: str) -> None:
    opened = opened_by_name(name)
    segments = opened.segments(text)
    assert [part.id for part in segments if part.id is not None] == opened.encode(text)
    reached = 0
    for part in segments:
        assert part.byte_start == reached or part.byte_start == part.byte_end
        reached = max(reached, part.byte_end)
    assert reached == len(text.encode())
