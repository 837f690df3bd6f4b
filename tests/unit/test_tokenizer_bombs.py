"""Tokenizer files that hold more than any real tokenizer are refused before they are parsed."""

from __future__ import annotations

import json

import pytest
import tokenizers

from bpe_core.errors import FormatError
from bpe_core.formats import folder_files, json_files
from bpe_core.formats.opening.opening import open_files
from tests.zipping import make_zip

MOST = 1_000
LISTS = b'{"model": [' + b"[]," * MOST + b"[]]}"


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "MAX_VALUES", MOST)
    monkeypatch.setattr(json_files, "MAX_TOKENS", 100)
    monkeypatch.setattr(folder_files, "_MAX_UNPACKED", 5_000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-be"])
@pytest.mark.parametrize("before", ["", r'"a\" b": 1, ', r'"a\\": "\"", '])
def test_json_of_too_many_values_is_refused(encoding: str, before: str) -> None:
    data = LISTS.decode().replace("{", "{" + before, 1).encode(encoding)
    with pytest.raises(FormatError, match="more than 1,000 JSON values"):
        open_files({"tokenizer.json": data})


def test_punctuation_in_tokens_is_not_counted() -> None:
    vocab = {f"[,{{:{n}": n for n in range(90)}
    model = {"type": "BPE", "vocab": {**vocab, "[": 90, ",": 91}, "merges": []}
    padded = json.dumps({"model": model, "added_tokens": [], "x": "[,:" * 2 * MOST}).encode()
    assert json_files.parse_json(padded, "tokenizer.json")["model"] == model


def test_a_small_zip_of_too_many_values_is_refused() -> None:
    with pytest.raises(FormatError, match="more than 1,000 JSON values"):
        open_files({"a.zip": make_zip({"tokenizer.json": LISTS})})


def test_the_files_of_a_zip_are_limited_together() -> None:
    files = {"vocab.json": b" " * 3_000, "merges.txt": b" " * 3_000}
    with pytest.raises(FormatError, match=r"merges\.txt the tokenizer has more than 5,000 bytes"):
        open_files({"a.zip": make_zip(files)})


@pytest.mark.parametrize("kind", ["own", "of another kind", "tiktoken"])
def test_too_many_tokens_are_refused(kind: str) -> None:
    vocab = {f"{n}": n for n in range(101)}
    if kind == "own":
        files = {"vocab.json": json.dumps(vocab).encode(), "merges.txt": b"0 1\n"}
    elif kind == "tiktoken":
        files = {"a.tiktoken": b"YQ== 0\n" * 101}
    else:
        model = tokenizers.models.WordPiece(vocab, unk_token="0")
        files = {"tokenizer.json": tokenizers.Tokenizer(model).to_str().encode()}
    with pytest.raises(FormatError, match=r"Expected at most 100 tokens in .*, got 101"):
        open_files(files, pretokenizer=None if kind == "of another kind" else "gpt2")
