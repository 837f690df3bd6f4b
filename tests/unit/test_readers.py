"""Files of other tools: GGUF, SentencePiece, Tekken and zips, whole and damaged."""

from __future__ import annotations

import base64
import io
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import gguf
import pytest
import sentencepiece
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.cli import commands
from bpe_core.formats import BaseFiles, dumps, loads, read_files_at
from bpe_core.formats.gguf.gguf_header import parse_gguf
from bpe_core.formats.opening.opening import open_files
from bpe_core.formats.running.run_by_library import SentencePieceTokenizer
from bpe_core.unicode import to_printable
from tests.zipping import make_zip

SMALL = bpe.gpt2().truncated(300)


def write_gguf(path: Path, **changes: Any) -> bytes:
    """Write GPT-2's first tokens with the `gguf` library, then a tensor; return the file."""
    tokens = {id: to_printable(token) for id, token in SMALL.vocab.items()}
    special = set(SMALL.special_tokens.values())
    tokens |= {id: text for text, id in SMALL.special_tokens.items()}
    ids = sorted(tokens)
    keys: dict[str, Any] = {
        "model": "gpt2",
        "pre": "gpt-2",
        "tokens": [tokens[id] for id in ids],
        "token_type": [3 if id in special else 1 for id in ids],
        "merges": [f"{tokens[merge.left]} {tokens[merge.right]}" for merge in SMALL.merges],
    }
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_array("general.tags", ["one", "two"])
    writer.add_array("general.numbers", [1, 2, 3])
    for name, value in {**keys, **changes}.items():
        if isinstance(value, list):
            writer.add_array(f"tokenizer.ggml.{name}", value)
        else:
            writer.add_string(f"tokenizer.ggml.{name}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with path.open("ab") as file:
        file.write(b"\0" * 4096)
    return path.read_bytes()


@pytest.fixture(scope="module")
def gguf_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "small.gguf")


@pytest.fixture(scope="module")
def model() -> bytes:
    """Return a small SentencePiece model, trained by the library."""
    text = [str(bpe.gpt2().vocab[id], "utf-8", "ignore") for id in range(2_000)]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text),
        model_writer=written,
        model_type="bpe",
        vocab_size=800,
        byte_fallback=True,
        user_defined_symbols=["<tool>"],
        minloglevel=2,
    )
    return written.getvalue()


def tekken(**changes: Any) -> dict[str, Any]:
    tokens = [bytes([byte]) for byte in range(256)] + [b"hu", b"hug", b"unused"]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": bpe.get_pretokenizer("gpt2").pattern,
        "default_vocab_size": 268,
        "default_num_special_tokens": 10,
    }
    return {"config": {**config, **changes.pop("config", {})}, "vocab": vocab, **changes}


def key(name: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + value


def with_keys(*keys: bytes, n: int | None = None, version: int = 3) -> bytes:
    n = len(keys) if n is None else n
    return b"GGUF" + struct.pack("<IQQ", version, 0, n) + b"".join(keys)


# GGUF


def test_a_gguf_file_opens_as_a_file_in_memory_and_by_load(
    gguf_file: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(gguf_file)
    text = "the hat in there <|endoftext|>"
    opened = bpe.open_encoder(path)
    assert opened.engine == "bpe_core"
    assert "model gpt2, pre gpt-2" in opened.provenance
    assert opened.name == "small.gguf"
    for tokenizer in (opened.encoder, bpe.load(path), loads({"x": gguf_file})):
        ids = tokenizer.encode(text, allowed_special="all")
        assert [tokenizer.vocab[id] for id in ids] == [
            SMALL.vocab[id] for id in SMALL.encode(text, allowed_special="all")
        ]
    assert open_files({"small.gguf": gguf_file}).fingerprint == opened.fingerprint


def test_the_keys_are_those_that_the_gguf_library_reads(gguf_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(gguf_file)
    theirs = {
        name: field.contents()
        for name, field in gguf.GGUFReader(path).fields.items()
        if name.startswith("tokenizer.")
    }
    assert parse_gguf(read_files_at(path)[path.name]) == parse_gguf(gguf_file) == theirs


def test_tensors_are_never_read(gguf_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    path.write_bytes(gguf_file)
    with path.open("r+b") as file:
        file.truncate(3 << 40)  # a sparse file of three terabytes
    assert bpe.open_encoder(path).encode("the") == open_files({"x": gguf_file}).encode("the")
    base = BaseFiles.open(path)
    assert base.tokenizer == loads({"x": gguf_file})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGUF", "cut short: 4 bytes are announced at byte 4"),
        (with_keys(version=7), "version 2 or 3, got 7"),
        (with_keys(version=3 << 24), "big-endian"),
        (with_keys(n=10**9), "announces 1,000,000,000 keys at byte 16"),
        (with_keys(n=1), "cut short"),
        (with_keys(struct.pack("<Q", 1 << 60) + b"x"), "The key at byte 24 announces"),
        (with_keys(key("tokenizer.x", 8, struct.pack("<Q", 10**9))), "1,000,000,000 bytes"),
        (with_keys(key("tokenizer.x", 9, struct.pack("<IQ", 8, 10**9))), "8,000,000,000 bytes"),
        (with_keys(key("general.x", 9, struct.pack("<IQ", 4, 1 << 61))), "cut short"),
        (with_keys(key("tokenizer.x", 9, struct.pack("<IQ", 9, 1))), "unknown type 9"),
        (with_keys(key("tokenizer.x", 77, b"")), "unknown type 77"),
        (with_keys(key("tokenizer.x", 8, struct.pack("<Q", 1) + b"\xff")), "not valid UTF-8"),
        (with_keys(*[key("tokenizer.x", 7, b"\1")] * 2), "occurs twice"),
        (with_keys(key("general.x", 7, b"\1")), "lacks the key tokenizer.ggml.model"),
    ],
)
def test_a_damaged_gguf_file_is_refused_with_its_place(data: bytes, message: str) -> None:
    for read in (lambda: open_files({"x.gguf": data}), lambda: loads({"x.gguf": data})):
        with pytest.raises(bpe.FormatError, match=message):
            read()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pre": "brand-new"}, "'brand-new'"),
        ({"pre": "default"}, "tokenizer.ggml.pre"),
        ({"model": "rwkv"}, "of the kind 'rwkv'"),
        ({"tokens": ["a", "b", "a"], "token_type": [1, 1, 1]}, "tokens 0 and 2 are both 'a'"),
        ({"token_type": [1]}, "358 tokens and 1 types"),
        ({"merges": ["h nothing"]}, "Merge 0, 'h nothing', does not fit"),
        ({"merges": ["h"]}, "Merge 0"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    n_tokens = SMALL.vocab_size
    data = write_gguf(tmp_path / "odd.gguf", **changes)
    with pytest.raises(bpe.FormatError, match=message.replace("358", f"{n_tokens:,}")):
        open_files({"odd.gguf": data})


@pytest.mark.parametrize("changes", [{"pre": "default"}, {"pre": "brand-new"}, {"pre": [1]}])
def test_a_named_pre_tokenizer_stands_for_one_that_a_gguf_file_lacks(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    path = tmp_path / "old.gguf"
    whole = write_gguf(tmp_path / "whole.gguf")
    data = write_gguf(path, **changes)
    text = "the hat in there 123 <|endoftext|>"
    expected = loads({"x": whole})
    for name in ("gpt2", "llama3", "starcoder", "o200k"):
        opened = bpe.open_encoder(path, name)
        assert opened.encoder == bpe.load(path, name) == loads({"x": data}, name)
        assert open_files({"x.gguf": data}, pretokenizer=name).encode(text) == opened.encode(text)
        assert bpe.load(path, name).pretokenizer.name == name
    assert bpe.load(path, "gpt2").encode(text) == expected.encode(text)
    with pytest.raises(bpe.FormatError, match="Name its pre-tokenizer, such as gpt2"):
        bpe.open_encoder(path)
    with pytest.raises(bpe.ConfigError, match="drops white space"):
        bpe.open_encoder(path, "whitespace")
    with pytest.raises(bpe.ConfigError, match="is 'gpt2', not 'llama3'"):
        bpe.load(tmp_path / "whole.gguf", "llama3")
    extended = tmp_path / "extended.gguf"
    named = ("--pretokenizer", "gpt2")
    for command in (
        ["encode", str(path), *named, "-"],
        ["inspect", str(path), *named],
        ["convert", str(path), str(tmp_path / "new.gguf"), "--format", "gguf", *named],
        ["compare", "-", "-t", str(path), "-t", "gpt2", *named],
        ["extend", str(path), "-", "--tokens", "1", "--out", str(extended), *named],
    ):
        result = CliRunner().invoke(commands.main, command, input="the hat in the hat\n")
        assert result.exit_code == 0, (command, result.output)
    assert bpe.load(tmp_path / "new.gguf").encode(text) == expected.encode(text)


# SentencePiece


def test_a_sentencepiece_model_encodes_as_its_library(model: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model)
    peer = sentencepiece.SentencePieceProcessor(model_proto=model)
    opened = bpe.open_encoder(path)
    assert opened.engine.startswith("sentencepiece ")
    assert opened.model == "BPE"
    for text in ("", "the  hat ", "héllo 漢字 🙂<tool>x", "<s>a</s>", "\x00\n\u3000"):
        assert opened.encode(text) == peer.encode(text)
        for copy in (opened.encoder, pickle.loads(pickle.dumps(opened.encoder))):  # noqa: S301
            parts = copy.segments(text)
            assert [part.id for part in parts if part.id is not None] == peer.encode(text)
            covered = "".join(text[a:b] for a, b in {(p.start, p.end): 0 for p in parts})
            assert covered == text
    assert {opened.vocab[id] for id in opened.encode("漢")} >= {b"\xe6", b"\xbc", b"\xa2"}
    byte_parts = [part for part in opened.segments("漢") if len(part.token) == 1]
    assert [part.byte_end - part.byte_start for part in byte_parts][-3:] == [1, 1, 1]


def test_a_control_piece_is_never_taken_from_a_text(model: bytes) -> None:
    tokenizer = SentencePieceTokenizer(model)
    assert set(tokenizer.special_tokens) == {"<s>", "</s>"}
    assert tokenizer.encode("the", allowed_special="all") == tokenizer.encode("the")
    with pytest.raises(bpe.TokenizationError, match="only as an id"):
        tokenizer.encode("a<s>", allowed_special="all")


def test_load_says_which_door_a_sentencepiece_model_has(model: bytes) -> None:
    with pytest.raises(bpe.FormatError, match="open_encoder"):
        loads({"tokenizer.model": model})


def test_duplicate_pieces_and_lying_lengths_are_refused(model: bytes) -> None:
    first = model[: 2 + model[1]]
    for data, message in [
        (model + first, "are both '<unk>'"),
        (first + b"\n\xff\xff\xff\xff\x07", "announces 2,147,483,647 bytes, and 0 are left"),
        (first + b"\n\x02\n\x00", "has no text"),
        (model[:-3], "announces"),
    ]:
        with pytest.raises(bpe.FormatError, match=message):
            open_files({"tokenizer.model": data})


# Tekken


def test_a_tekken_file_puts_its_special_tokens_first() -> None:
    data = json.dumps(tekken()).encode()
    opened = open_files({"tekken.json": data})
    assert opened.encode("hugs") == [267, 10 + ord("s")]
    assert opened.vocab[267] == b"hug"
    assert list(opened.special_tokens)[:3] == ["<unk>", "<s>", "</s>"]
    assert opened.encode("<s>", allowed_special="all") == [1]
    assert opened.engine == "bpe_core"
    assert loads({"tekken.json": data}).encode("hugs") == opened.encode("hugs")


def test_a_tekken_file_with_a_pattern_of_its_own_runs_by_tiktoken() -> None:
    data = json.dumps(tekken(config={"pattern": r"[a-z]+|[^a-z]"})).encode()
    opened = open_files({"tekken.json": data})
    assert opened.engine.startswith("tiktoken")
    assert "Its pattern" in opened.provenance
    assert opened.encode("hugs") == [267, 10 + ord("s")]
    assert [part.token for part in opened.segments("hug é")] == [b"hug", b" ", b"\xc3", b"\xa9"]
    with pytest.raises(bpe.FormatError, match="open_encoder"):
        loads({"tekken.json": data})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": {"default_vocab_size": 10**9}}, "announces 1,000,000,000 tokens"),
        ({"config": {"default_num_special_tokens": 10**9}}, "announces"),
        ({"config": {"pattern": 7}}, "Tekken file's pattern, got 7"),
        ({"vocab": [{"rank": 1, "token_bytes": "AA=="}] * 300}, "Expected rank 0"),
        ({"vocab": [{"rank": 0, "token_bytes": "?"}] * 300}, "entry 0"),
        ({"vocab": [7] * 300}, "entry 0"),
        ({"vocab": [{"rank": n, "token_bytes": "AA=="} for n in range(300)]}, "repeats the token"),
        ({"special_tokens": [{"rank": 0, "token_str": "<s>"}] * 2}, "special token 1"),
        ({"special_tokens": [{"rank": n, "token_str": "<s>"} for n in range(10)]}, "different"),
    ],
)
def test_a_damaged_tekken_file_is_refused_with_its_place(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(bpe.FormatError, match=message):
        open_files({"tekken.json": json.dumps(tekken(**changes)).encode()})


# Zips, folders and names


def test_a_transformers_folder_opens_as_a_zip_and_as_a_folder(tmp_path: Path) -> None:
    files = dumps(SMALL, "transformers")
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    data = make_zip({f"folder/{name}": data for name, data in files.items()})
    assert open_files({"mine.zip": data}).fingerprint == bpe.open_encoder(tmp_path).fingerprint
    assert loads({"mine.zip": data}) == SMALL
    pair = make_zip(dumps(SMALL, "gpt2"))
    assert open_files({"mine.zip": pair}).encode("the") == SMALL.encode("the")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (make_zip({"a.txt": b""}), "has no tokenizer file"),
        (
            make_zip({"a/tokenizer.json": b"{}", "b/tokenizer.json": b"{}"}),
            "several tokenizer.json",
        ),
        (make_zip({"tokenizer.json": b"{}" * 99})[:60], "damaged, incomplete"),
    ],
    ids=["nothing", "two", "cut"],
)
def test_a_zip_without_one_whole_tokenizer_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(bpe.FormatError, match=message):
        open_files({"x.zip": data})


def test_folders_with_other_tools_files_open(model: bytes, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(model)
    assert bpe.open_encoder(tmp_path).engine.startswith("sentencepiece")


def test_a_name_opens_what_is_here_and_fetches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bpe.open_encoder("gpt2").encode("hugs") == bpe.gpt2().encode("hugs")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for name in ("llama3", "gpt4"):
        with pytest.raises(bpe.UnavailableError, match=f"Run: bpe fetch {name}"):
            bpe.open_encoder(name)
    for wrong in ("no-such-name", "", "a\0b", 7):
        with pytest.raises(bpe.BpeError):
            bpe.open_encoder(wrong)  # pyright: ignore[reportArgumentType]


@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_tokenizer_or_a_clear_error(data: bytes) -> None:
    for head in (b"", b"GGUF\3\0\0\0", b"PK\3\4", b"\n\x0e\n\x05<unk>"):
        try:
            loads({"upload": head + data})
        except bpe.BpeError:
            continue
