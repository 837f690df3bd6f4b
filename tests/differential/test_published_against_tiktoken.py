"""GPT-4's and GPT-4o's tokenizers, opened from OpenAI's files, equal tiktoken's."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.corpus import parallel_texts
from bpe_core.formats import loads, read_ranks, tiktoken_file
from bpe_core.formats.description import Merges
from bpe_core.formats.opening.opening import open_files
from bpe_core.tokenizer import NamedEncoder, Tokenizer
from bpe_core.unicode import class_runs
from tests.oracles import RANKS, one_at_a_time, tiktoken_published
from tests.strategies import hostile_texts, texts

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
each = pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"], indirect=True)
SPECIAL = ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>"]


FILES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}


def ranks_file(name: str) -> bytes:
    return (RANKS / FILES[name]).read_bytes()


@cache
def opened(name: str) -> NamedEncoder:
    return open_files({"any.tiktoken": ranks_file(name)})


name = one_at_a_time(opened, tiktoken_published)


def own(name: str) -> Tokenizer:
    tokenizer = opened(name).encoder
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def assert_same_ids(name: str, text: str) -> None:
    assert own(name).encode(text) == tiktoken_published(name).encode_ordinary(text)


@each
def test_openais_own_files_need_no_pretokenizer_argument(name: str) -> None:
    assert opened(name).provenance.startswith("The file is OpenAI’s")


@each
def test_special_tokens_that_are_given_are_added_to_those_of_a_published_file(name: str) -> None:
    files = {"any.tiktoken": ranks_file(name)}
    given = {"<|mine|>": 300_000}
    loaded = loads(files, special_tokens=given)
    assert loaded.special_tokens == {**own(name).special_tokens, **given}
    assert loads(files, own(name).pretokenizer.name, given) == loaded


@each
def test_conversion_from_tiktoken_equals_reading_its_file(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[object] = []
    tokenizer = own(name)

    def take(*given: object) -> Merges:
        taken.extend(given)
        return Merges({}, [], "none")

    monkeypatch.setattr(tiktoken_file, "recover_rank_merges", take)
    bpe.from_tiktoken(tiktoken_published(name))
    expected = read_ranks(ranks_file(name)), tokenizer.pretokenizer.name, tokenizer.special_tokens
    assert taken == list(expected)


@each
def test_the_vocabulary_and_the_special_tokens_are_the_same(name: str) -> None:
    peer, tokenizer = tiktoken_published(name), own(name)
    assert list(tokenizer.special_tokens) == sorted(
        peer.special_tokens_set, key=lambda token: tokenizer.special_tokens[token]
    )
    assert all(peer.decode_single_token_bytes(id) == b for id, b in tokenizer.vocab.items())
    assert max(tokenizer.vocab) + 1 == peer.n_vocab


@each
@settings(max_examples=700)
@given(text=st.one_of(hostile_texts, texts))
def test_ids_equal_tiktokens(name: str, text: str) -> None:
    assert_same_ids(name, text)


@each
@pytest.mark.parametrize("context", ["{}", "a{}", "{}a", "A{}b", " {}", "'{}", "{}\n", "1{}1"])
def test_characters_of_every_class_equal_tiktokens(name: str, context: str) -> None:
    starts, _ = class_runs()
    code_points = {*starts, *(start - 1 for start in starts[1:]), *range(0, 0x110000, 1_000)}
    characters = [chr(c) for c in sorted(code_points) if not 0xD800 <= c < 0xE000]
    assert_same_ids(name, "\x00¶".join(map(context.format, characters)))


@each
def test_every_code_point_equals_tiktokens(name: str) -> None:
    # Separate them first by a character that no pattern joins with them, and then by nothing.
    characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    peer = tiktoken_published(name)
    for between in ("\x00", ""):
        text = between.join(characters)
        assert np.array_equal(
            own(name).encode_to_numpy(text), peer.encode_to_numpy(text, disallowed_special=())
        )


@each
def test_long_texts_and_files_equal_tiktokens(name: str) -> None:
    for file in ("pydoc_data/topics.py", "html/entities.py", "encodings/cp1006.py", "locale.py"):
        assert_same_ids(name, (LIBRARY / file).read_text(encoding="utf-8"))
    assert_same_ids(name, "\n".join(" ".join(text.sentences) for text in parallel_texts()) * 20)


@each
@pytest.mark.parametrize("unit", ["a", "A", " ", "\n", "\r\n", "é", "🙂", "0", "!/", "aB", "'s"])
def test_long_runs_equal_tiktokens(name: str, unit: str) -> None:
    assert_same_ids(name, unit * (20_000 // len(unit.encode())))


@each
@settings(max_examples=60)
@given(text=st.lists(st.one_of(st.sampled_from(SPECIAL), hostile_texts), max_size=6).map("".join))
def test_allowed_special_tokens_equal_tiktokens(name: str, text: str) -> None:
    ids = own(name).encode(text, allowed_special="all")
    assert ids == tiktoken_published(name).encode(text, allowed_special="all")


@each
@settings(max_examples=60)
@given(text=hostile_texts)
def test_decoding_restores_the_text(name: str, text: str) -> None:
    assert own(name).decode(own(name).encode(text)) == text
