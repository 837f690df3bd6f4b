"""Tokenizer files that make a text many times longer are refused before they encode any text."""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from typing import Any

import pytest
import tokenizers

from bpe_core.errors import FormatError
from bpe_core.formats import folder_files, json_files
from bpe_core.formats.opening.opening import describe_files, open_files
from bpe_core.formats.patterns import check_charsmap, check_growth
from bpe_core.formats.sentencepiece_model import NORMAL, UNKNOWN, Piece, read_model, write_model
from tests.foreign_models import library_encoder
from tests.zipping import make_zip

LONG = "hug" * 1_000
MODEL = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}


def replace(content: str, **pattern: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def sequence(*normalizers: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(normalizers)}


def charsmap(text: bytes) -> dict[str, Any]:
    table = struct.pack("<I", 4) + bytes(4) + text + b"\0"
    return {"type": "Precompiled", "precompiled_charsmap": b64encode(table).decode()}


@pytest.mark.parametrize(
    "normalizer",
    [
        {"type": "Prepend", "prepend": LONG},
        sequence(*[{"type": "Prepend", "prepend": "hug" * 100}] * 4),
        replace(LONG, String="a"),
        replace(LONG, Regex="."),
        sequence(*[replace("aa", String="a")] * 7),
        sequence(*[replace("-", Regex="")] * 7),
        sequence(sequence(sequence(*[replace("aaaaaaaaaa", Regex=".")] * 12))),
        charsmap(LONG.encode()),
        sequence(charsmap(LONG.encode())),
    ],
)
def test_a_text_must_not_become_much_longer(normalizer: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="Its normalizer"):
        library_encoder({"model": MODEL, "normalizer": normalizer})


@pytest.mark.parametrize(
    "model",
    [
        {"continuing_subword_prefix": LONG},
        {"end_of_word_suffix": LONG},
        {"max_input_chars_per_word": 10**9},
    ],
)
def test_a_word_must_not_take_much_longer(model: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=next(iter(model))):
        check_growth({"model": {**MODEL, **model}})


def test_ids_must_not_leave_out_millions() -> None:
    with pytest.raises(FormatError, match="largest id is 2,147,483,647"):
        library_encoder({"model": {**MODEL, "vocab": {"a": 0, "b": 2**31 - 1}}})
    check_growth({"model": {**MODEL, "vocab": {"a": 0, "b": 1 << 24}}})


def test_what_published_tokenizers_do_is_allowed() -> None:
    peer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    peer.normalizer = tokenizers.normalizers.Sequence(
        [
            tokenizers.normalizers.Prepend("▁"),
            tokenizers.normalizers.Replace(" ", "▁"),
            tokenizers.normalizers.Replace("``", '"'),
            tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " "),
            tokenizers.normalizers.Replace(tokenizers.Regex("\\s+"), ""),
            tokenizers.normalizers.NFKC(),
        ]
    )
    check_growth({"normalizer": charsmap("صلى الله عليه وسلم".encode())})
    check_growth({"model": {"max_input_chars_per_word": 200, "end_of_word_suffix": "</w>"}})
    assert library_encoder(json.loads(peer.to_str())).encode("b") == [0]


def test_the_table_of_a_sentencepiece_model_is_checked() -> None:
    pieces = [Piece("<unk>", 0, UNKNOWN), Piece("a", 0, NORMAL)]
    table = struct.pack("<I", 0) + LONG.encode()
    assert read_model(write_model(pieces, "BPE", charsmap=table[:20])).pieces[1].text == "a"
    with pytest.raises(FormatError, match="writes 3,000 bytes for one character"):
        read_model(write_model(pieces, "BPE", charsmap=table))


@pytest.mark.parametrize("table", [b"", b"a", b"\xff\xff\xff\xff", struct.pack("<I", 9) + b"a"])
def test_a_damaged_table_is_left_to_the_library(table: bytes) -> None:
    check_charsmap(table)
    check_growth({"normalizer": {"precompiled_charsmap": "not base64"}})


# Files that hold more than any real tokenizer


MOST = 1_000
LISTS = b'{"model": [' + b"[]," * MOST + b"[]]}"


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "MAX_VALUES", MOST)
    monkeypatch.setattr(json_files, "MAX_TOKENS", 100)
    monkeypatch.setattr(folder_files, "_MAX_UNPACKED", 5_000)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-be"])
@pytest.mark.parametrize("before", ["", r'"a\" b": 1, ', r'"a\\": "\"", '])
def test_json_of_too_many_values_is_refused(encoding: str, before: str) -> None:
    data = LISTS.decode().replace("{", "{" + before, 1).encode(encoding)
    with pytest.raises(FormatError, match="more than 1,000 JSON values"):
        open_files({"tokenizer.json": data})


@pytest.mark.usefixtures("small_limits")
def test_punctuation_in_tokens_is_not_counted() -> None:
    vocab = {f"[,{{:{n}": n for n in range(90)}
    model = {"type": "BPE", "vocab": {**vocab, "[": 90, ",": 91}, "merges": []}
    padded = json.dumps({"model": model, "added_tokens": [], "x": "[,:" * 2 * MOST}).encode()
    assert json_files.parse_json(padded, "tokenizer.json")["model"] == model


@pytest.mark.usefixtures("small_limits")
def test_a_small_zip_of_too_many_values_is_refused() -> None:
    with pytest.raises(FormatError, match="more than 1,000 JSON values"):
        open_files({"a.zip": make_zip({"tokenizer.json": LISTS})})


@pytest.mark.usefixtures("small_limits")
def test_the_files_of_a_zip_are_limited_together() -> None:
    files = {"vocab.json": b" " * 3_000, "merges.txt": b" " * 3_000}
    with pytest.raises(FormatError, match=r"merges\.txt the tokenizer has more than 5,000 bytes"):
        open_files({"a.zip": make_zip(files)})


@pytest.mark.usefixtures("small_limits")
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
    pretokenizer = None if kind == "of another kind" else "gpt2"
    with pytest.raises(FormatError, match=r"Expected at most 100 tokens in .*, got 101"):
        describe_files(files, pretokenizer)
