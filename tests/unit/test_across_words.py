"""Small files of SentencePiece's family: where spaces are put, what is found, what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from bpe_core.errors import ConfigError, FormatError
from bpe_core.formats import dumps, loads
from bpe_core.formats.opening.opening import open_files
from bpe_core.formats.sentencepiece_model import BYTE, NORMAL, UNKNOWN, Piece, write_model
from bpe_core.tokenizer import NamedEncoder, Tokenizer
from tests.commands import run, succeed

REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
PREPEND = {"type": "Prepend", "prepend": "▁"}
BOTH = {"type": "Sequence", "normalizers": [PREPEND, REPLACE]}
DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
SPLIT = {
    "type": "Split",
    "pattern": {"String": " "},
    "behavior": "MergedWithPrevious",
    "invert": False,
}
PLAIN = ("", " ", "a", "ab ab", "  ab", "▁ab", " ▁ab", "a▁b", "é\n漢", "漢▁ab", "aXb", "X", " X ab")
WITH_ADDED = ("<s>ab", "ab<s> ab<s>", "<s>", "aYb Y", "Y▁Y", "<s>X", "ab  X  ab", "▁X▁")
TEXTS = (*PLAIN, *WITH_ADDED)


def metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": False}


def described(**parts: Any) -> dict[str, Any]:
    """Return a tokenizer.json like Llama 2's, with parts of it replaced."""
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens += ["▁", "a", "b", "é", "▁a", "ab", "▁ab", "▁▁", "<s>"]
    return {
        "version": "1.0",
        "added_tokens": [added("<s>", len(tokens) - 1, special=True)],
        "normalizer": BOTH,
        "pre_tokenizer": None,
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {token: id for id, token in enumerate(tokens)},
            "merges": ["▁ a", "a b", "▁a b", "▁ ab", "▁ ▁"],
        },
        **parts,
    }


def added(text: str, id: int, *, special: bool, normalized: bool = False) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    return {"id": id, "content": text, "special": special, "normalized": normalized, **flags}


def opened(file: Mapping[str, Any]) -> NamedEncoder:
    return open_files({"tokenizer.json": json.dumps(file).encode()})


def test_ids_far_apart_are_refused_before_arrays_have_a_place_for_each() -> None:
    file = described()
    file["model"]["vocab"]["▁ab"] = 2**31 - 1
    with pytest.raises(FormatError, match=r"largest id is 2,147,483,647") as refused:
        opened(file)
    assert str(refused.value).count("allowed") == 1


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        (BOTH, None),
        (REPLACE, SPLIT),
        (REPLACE, None),
        (None, metaspace("always")),
        (None, metaspace("first")),
        (None, metaspace("never")),
    ],
)
@pytest.mark.parametrize("normalized", [False, True])
def test_ids_and_places_are_those_of_the_library(
    normalizer: object, pre_tokenizer: object, normalized: bool
) -> None:
    file = described(normalizer=normalizer, pre_tokenizer=pre_tokenizer)
    first = len(file["model"]["vocab"])
    file["added_tokens"] += [
        added("X", first, special=False, normalized=normalized and normalizer != BOTH),
        added("Y", first + 1, special=False),
    ]
    named = opened(file)
    assert isinstance(named.encoder, Tokenizer), named.provenance
    peer = tokenizers.Tokenizer.from_str(json.dumps(file))
    for text in TEXTS:
        expected = peer.encode(text, add_special_tokens=False)
        assert named.encode(text, "all") == expected.ids, text
        segments = named.segments(text, "all")
        assert b"".join(text.encode()[s.byte_start : s.byte_end] for s in segments) == text.encode()
    assert pickle.loads(pickle.dumps(named.encoder)).fingerprint == named.fingerprint  # noqa: S301


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"normalizer": {"type": "NFKC"}}, "not run here (NFKC)"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "not run here"),
        ({"pre_tokenizer": {**metaspace("first"), "split": True}, "normalizer": None}, "Metaspace"),
    ],
)
def test_what_changes_the_text_otherwise_is_left_to_the_library(
    change: dict[str, Any], reason: str
) -> None:
    named = opened(described(**change))
    assert named.engine.startswith("tokenizers")
    assert reason in named.provenance


def without_byte(file: dict[str, Any]) -> None:
    del file["model"]["vocab"]["<0xE6>"]


def without_order(file: dict[str, Any]) -> None:
    file["model"]["ignore_merges"] = True


def with_merged_bytes(file: dict[str, Any]) -> None:
    file["model"]["vocab"]["<0xE6><0xBC>"] = len(file["model"]["vocab"])
    file["model"]["merges"].append("<0xE6> <0xBC>")


def with_hidden_token(file: dict[str, Any]) -> None:
    file["added_tokens"].append(added("s", len(file["model"]["vocab"]), special=False))


def with_changed_token(file: dict[str, Any]) -> None:
    first = len(file["model"]["vocab"])
    file["added_tokens"].append(added("X", first, special=False, normalized=True))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_byte, "byte 0xE6"),
        (without_order, "ignore_merges"),
        (with_merged_bytes, "single bytes"),
        (with_hidden_token, "overlaps"),
        (with_changed_token, "changes the added token"),
    ],
)
def test_what_cannot_be_exact_is_left_to_the_library(change: Any, reason: str) -> None:
    file = described()
    change(file)
    named = opened(file)
    assert named.engine.startswith("tokenizers")
    assert reason in named.provenance
    peer = tokenizers.Tokenizer.from_str(json.dumps(file))
    for text in TEXTS:
        assert named.encode(text, "all") == peer.encode(text, add_special_tokens=False).ids


def model(*pieces: Piece, **settings: Any) -> bytes:
    spelled = [Piece(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
    characters = [Piece(each, -9, NORMAL) for each in "▁ab"]
    all_pieces = [Piece("<unk>", 0, UNKNOWN), *spelled, *characters, *pieces]
    return write_model(all_pieces, "BPE", **settings)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (model(remove_extra_spaces=True), "Its normalizer ('identity')"),
        (model(Piece("ab", -1, NORMAL), Piece("ba", -1, NORMAL)), "have the same score"),
        (model(Piece("azb", -1, NORMAL)), "characters that are not pieces"),
        (model(Piece("a b", -1, NORMAL)), "has a space in it"),
        # Whether these are joined alike would take minutes to find out.
        (model(*(Piece("a" * n, -1, NORMAL) for n in range(2, 400))), "have the same score"),
    ],
)
def test_models_that_are_left_to_sentencepiece_say_why(data: bytes, reason: str) -> None:
    named = open_files({"any.model": data})
    assert named.engine.startswith("sentencepiece")
    assert reason in named.provenance


def test_a_model_without_merges_is_refused_as_such() -> None:
    data = write_model([Piece("<unk>", 0, UNKNOWN), Piece("a", 0, NORMAL)], "Unigram")
    with pytest.raises(FormatError, match="It is a Unigram model, which has no merges"):
        loads({"tokenizer.model": data})


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (Piece("ab", float("nan"), NORMAL), "has the score"),
        (Piece("ab", float("inf"), NORMAL), "has the score"),
        # Refused by the library, which the model is left to without cutting the piece everywhere.
        (Piece("ab" * 6_000, -1, NORMAL), None),
    ],
)
def test_pieces_that_no_model_has_are_refused(piece: Piece, message: str | None) -> None:
    with pytest.raises(FormatError, match=message):
        open_files({"any.model": model(piece)})


def test_a_null_character_is_no_part_of_a_piece() -> None:
    with pytest.raises(FormatError, match="has a null character in it"):
        loads({"tokenizer.model": model(Piece("a\0", -1, NORMAL))})


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            {"vocab": {**described()["model"]["vocab"], "\ud800": 266}},
            r"A token has a lone surrogate, U\+D800",
        ),
        ({"merges": ["a zz"]}, None),
        ({"byte_fallback": "yes"}, "Expected true or false as byte_fallback, got 'yes'"),
    ],
)
def test_parts_that_no_file_has_are_refused(part: dict[str, Any], message: str | None) -> None:
    file = described()
    file["model"] |= part
    with pytest.raises(FormatError, match=message):
        loads({"tokenizer.json": json.dumps(file).encode()})


@pytest.mark.parametrize(
    "parts",
    [
        {"decoder": DECODER},
        {"normalizer": REPLACE, "decoder": {**DECODER, "decoders": DECODER["decoders"][:-1]}},
    ],
)
def test_ids_become_the_text_that_the_library_makes_of_them(parts: Mapping[str, Any]) -> None:
    file = described(**parts)
    ours = opened(file).encoder
    assert isinstance(ours, Tokenizer)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(file))
    for text in TEXTS:
        ids = ours.encode(text, "all")
        decoded = theirs.decode(ids, skip_special_tokens=False)
        assert ours.decode_bytes(ids).decode() == decoded, text


def with_special_meta(**parts: Any) -> dict[str, Any]:
    file = described(**parts)
    file["added_tokens"].append(added("<b▁of>", len(file["model"]["vocab"]), special=True))
    return file


def test_a_special_token_keeps_its_meta() -> None:
    file = with_special_meta(normalizer=BOTH, decoder=DECODER)
    peer = tokenizers.Tokenizer.from_str(json.dumps(file))
    plain = loads({"tokenizer.json": json.dumps(file).encode()})
    ours = opened(file).encoder
    assert isinstance(ours, Tokenizer)
    for text in ("ab <b▁of> ab", "ab <b of> ab"):
        ids = peer.encode(text, add_special_tokens=False).ids
        assert plain.encode(text, "all") == ours.encode(text, "all") == ids
        assert ours.decode_bytes(ids).decode() == peer.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("normalizer", [BOTH, REPLACE])
def test_an_adapted_file_names_a_special_token_as_its_base_does(
    normalizer: dict[str, Any], tmp_path: Path
) -> None:
    base, text, out = tmp_path / "tokenizer.json", tmp_path / "notes.txt", tmp_path / "out"
    base.write_text(json.dumps(with_special_meta(normalizer=normalizer)), encoding="utf-8")
    text.write_text("abba abba abba", encoding="utf-8")
    succeed("extend", base, text, "--tokens", "1", "--out", out)
    vocabulary = tokenizers.Tokenizer.from_file(str(out / "tokenizer.json")).get_vocab()
    assert [each for each in vocabulary if "of>" in each] == ["<b▁of>"]


def test_a_tokenizer_without_a_space_in_front_keeps_its_own_tokenizer_json(tmp_path: Path) -> None:
    base, text, out = tmp_path / "tokenizer.json", tmp_path / "notes.txt", tmp_path / "out"
    base.write_text(json.dumps(described(normalizer=REPLACE)), encoding="utf-8")
    text.write_text("abba abba abba", encoding="utf-8")
    succeed("extend", base, text, "--tokens", "1", "--format", "transformers", "--out", out)
    assert json.loads((out / "tokenizer.json").read_text())["normalizer"] == REPLACE
    assert (out / "tokenizer_config.json").exists()
    adapted = loads({"tokenizer.bpe.json": write_native(base, text, tmp_path)})
    assert adapted.table.byte_ids
    for format_name in ("huggingface", "transformers"):
        with pytest.raises(ConfigError, match="in the native format"):
            dumps(adapted, format_name)


def write_native(base: Path, text: Path, folder: Path) -> bytes:
    out = folder / "native"
    succeed("extend", base, text, "--tokens", "1", "--format", "native", "--out", out)
    return (out / "tokenizer.bpe.json").read_bytes()


def test_the_commands_explain_and_decode_it(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(described()), encoding="utf-8")
    ids = succeed("encode", path, stdin="ab é漢 ab".encode()).stdout_bytes
    assert succeed("decode", path, stdin=ids).stdout == "ab é漢 ab"
    assert "merges          4" in succeed("inspect", path).stdout
    assert succeed("inspect", path, "--text", "ab").stdout.splitlines() == [
        "Ġ a b",
        "  merge 0: Ġ + a",
        "  merge 2: Ġa + b",
        "Ġab",
    ]
    refused = run("convert", path, tmp_path / "ranks.tiktoken")
    assert "tiktoken has only byte tokens" in refused.stderr
