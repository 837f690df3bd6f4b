"""Folders and zips of transformers, whose small files add tokens to a vocabulary: the same ids."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

import bpe_core as bpe
from bpe_core.adapting.adapted import trace_ids
from bpe_core.corpus.samples import load_sample
from bpe_core.formats.adapted.adapted_files import adapted_files
from bpe_core.formats.adapted.adapting_base import open_base
from bpe_core.formats.load_save import dumps, write_files
from bpe_core.formats.sentencepiece_model import NORMAL, UNKNOWN, Piece, write_model
from tests.zipping import make_zip

# Each loads transformers and opens several tokenizers.
pytestmark = pytest.mark.slow

SMALL = bpe.train(load_sample("notebook"), bpe.TrainingConfig(280, special_tokens=())).tokenizer
N = SMALL.vocab_size
SPECIAL = ("<s>", "</s>", "<unk>", "<pad>", "<mask>", "<|endoftext|>", "<new>", "  ")
TEXTS = (
    "This is <s> a <new> token. <mask>  x</s>",
    "<new>tokens<new>",
    "hello   <mask> world <|endoftext|>a<pad><unk>",
    " lead cafe\u0301",
    "",
)
Files = dict[str, Any]


def config(**fields: Any) -> Files:
    return {"tokenizer_config.json": fields}


def decoder(*tokens: Mapping[str, Any], first: int = N) -> dict[str, Any]:
    return {str(first + n): dict(token) for n, token in enumerate(tokens)}


NEW = {"content": "<new>", "special": True}
CASES: dict[str, Files] = {
    "decoder": config(
        tokenizer_class="GPT2Tokenizer",
        added_tokens_decoder=decoder(NEW, {"content": "<s>", "special": False}),
    ),
    "a hole in the ids": config(
        tokenizer_class="GPT2Tokenizer", added_tokens_decoder=decoder(NEW, first=N + 5)
    ),
    "a first space": config(tokenizer_class="GPT2Tokenizer", add_prefix_space=True),
    "older files": {
        **config(tokenizer_class="WhisperTokenizer"),
        "added_tokens.json": {"<new>": N, "<mask>": N + 1},
        "special_tokens_map.json": {
            "additional_special_tokens": ["<mask>"],
            "bos_token": {"content": "<s>", "normalized": True},
        },
    },
    "older files are not read with a decoder": {
        **config(tokenizer_class="GPT2Tokenizer", added_tokens_decoder=decoder(NEW)),
        "added_tokens.json": {"<s>": N + 1},
        "special_tokens_map.json": {"pad_token": "<pad>"},
    },
    "RoBERTa": {
        **config(tokenizer_class="RobertaTokenizer"),
        "special_tokens_map.json": {"mask_token": {"content": "<mask>", "lstrip": True}},
    },
    "the model's config": {"config.json": {"model_type": "roberta"}},
    "Phi": config(
        tokenizer_class="CodeGenTokenizer",
        image_token="<new>",
        added_tokens_decoder=decoder({"content": "  ", "normalized": True, "special": False}),
    ),
    "Qwen2": config(
        tokenizer_class="Qwen2Tokenizer",
        additional_special_tokens=["<new>", "<s>"],
        added_tokens_decoder=decoder(NEW, {"content": "<|endoftext|>", "special": True}),
    ),
    "Blenderbot": config(tokenizer_class="BlenderbotTokenizer"),
}


def written(sidecars: Files, main: Mapping[str, bytes], folder: Path) -> Path:
    folder.mkdir()
    for name, data in main.items():
        (folder / name).write_bytes(data)
    for name, content in sidecars.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def check(folder: Path) -> None:
    """Check that both doors give transformers' ids of folder and zip, or that `load` refuses."""
    peer = AutoTokenizer.from_pretrained(folder)
    archive = folder.with_suffix(".zip")
    archive.write_bytes(make_zip({each.name: each.read_bytes() for each in folder.iterdir()}))
    doors: list[Callable[[Path], Any]] = [bpe.open_encoder, bpe.load]
    for door in doors:
        for path in (folder, archive):
            try:
                found = door(path)
            except bpe.BpeError:
                assert door is bpe.load
                continue
            for text in TEXTS:
                theirs = peer.encode(text, add_special_tokens=False)
                assert found.encode(text, allowed_special="all") == theirs, (door, text)


@pytest.mark.parametrize("name", CASES)
def test_two_files_with_others_next_to_them(name: str, tmp_path: Path) -> None:
    check(written(CASES[name], dumps(SMALL, "gpt2"), tmp_path / "folder"))


@pytest.mark.parametrize("name", [name for name in CASES if name != "Qwen2"])
def test_a_tokenizer_json_with_others_next_to_it(name: str, tmp_path: Path) -> None:
    check(written(CASES[name], dumps(SMALL, "huggingface"), tmp_path / "folder"))


@pytest.mark.parametrize("seed", range(12))
def test_random_sidecars(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    tokens = draw.sample(SPECIAL, draw.randint(1, 4))
    flags = ("special", "lstrip", "rstrip", "normalized", "single_word")
    listed = [{"content": text, **{flag: draw.random() < 0.3 for flag in flags}} for text in tokens]
    fields: dict[str, Any] = {
        "tokenizer_class": draw.choice(["GPT2Tokenizer", "RobertaTokenizer", "CodeGenTokenizer"]),
        "add_prefix_space": draw.random() < 0.3,
    }
    files = config(**fields)
    if draw.random() < 0.5:
        first = N + (draw.random() < 0.2)
        files = config(**fields, added_tokens_decoder=decoder(*listed, first=first))
    else:
        files["added_tokens.json"] = {text: N + n for n, text in enumerate(tokens)}
    role = draw.choice(["bos_token", "pad_token", "mask_token"])
    files["special_tokens_map.json"] = {role: draw.choice(SPECIAL[:-1])}
    main = dumps(SMALL, draw.choice(["gpt2", "huggingface"]))
    check(written(files, main, tmp_path / "folder"))


def test_a_folder_with_added_tokens_is_extended(tmp_path: Path) -> None:
    files = CASES["older files"] | config(tokenizer_class="GPT2Tokenizer")
    folder = written(files, dumps(SMALL, "gpt2"), tmp_path / "folder")
    base = open_base(folder)
    assert base.tokenizer.special_tokens["<new>"] == N
    run = bpe.extend(base.tokenizer, load_sample("notebook"), n_tokens=5)
    out = tmp_path / "out"
    write_files(adapted_files(trace_ids(base.tokenizer, run.tokenizer), base.files), out)
    assert bpe.load(out).special_tokens == base.tokenizer.special_tokens
    check(out)


def test_a_file_of_ranks_gets_the_special_tokens_next_to_it(tmp_path: Path) -> None:
    ranks = dumps(SMALL, "tiktoken")
    files = config(added_tokens_decoder=decoder(NEW))
    folder = written(files, ranks, tmp_path / "folder")
    for door in (bpe.load, bpe.open_encoder):
        found = door(folder, pretokenizer="gpt2")
        assert found.special_tokens == {"<new>": N}
        assert found.encode("a<new>", allowed_special="all")[-1] == N
    ordinary = config(added_tokens_decoder=decoder({"content": "<new>", "special": False}))
    refused = written(ordinary, ranks, tmp_path / "refused")
    for door in (bpe.load, bpe.open_encoder):
        with pytest.raises(bpe.FormatError, match="'<new>' is not special"):
            door(refused, pretokenizer="gpt2")


def test_a_sentencepiece_model_names_the_special_tokens_it_lacks(tmp_path: Path) -> None:
    pieces = [Piece("<unk>", 0, UNKNOWN), Piece("▁", -1, NORMAL), Piece("a", -2, NORMAL)]
    model = {"tokenizer.model": write_model(pieces, "BPE")}
    added = {"added_tokens.json": {"<new>": 3, "<unk>": 0}}
    special = {"special_tokens_map.json": {"additional_special_tokens": ["<new>"]}}
    opened = bpe.open_encoder(written(added | special, model, tmp_path / "said"))
    assert "Left out: 1 special tokens of the folder" in opened.provenance
    with pytest.raises(bpe.FormatError, match="'<new>' is not special"):
        bpe.open_encoder(written(added, model, tmp_path / "refused"))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (config(tokenizer_class="CLIPTokenizer"), "how CLIPTokenizer of transformers cuts text"),
        (config(added_tokens_decoder=[]), "Expected an object as added_tokens_decoder"),
        (config(added_tokens_decoder={"one": NEW}), "Expected ids as keys"),
        (config(added_tokens_decoder={"1": {"content": 7}}), "Expected a token's text"),
        (config(bos_token=[7]), "Expected an object as the special tokens"),
        ({"added_tokens.json": {"<new>": "1"}}, "Expected an id from 0"),
    ],
)
def test_what_cannot_be_honoured_is_refused(files: Files, message: str, tmp_path: Path) -> None:
    folder = written(files, dumps(SMALL, "gpt2"), tmp_path / "folder")
    for door in (bpe.load, bpe.open_encoder):
        with pytest.raises(bpe.FormatError, match=message):
            door(folder)


def test_a_pretokenizer_can_be_named_for_an_unknown_class(tmp_path: Path) -> None:
    files = config(tokenizer_class="CLIPTokenizer", added_tokens_decoder=decoder(NEW))
    folder = written(files, dumps(SMALL, "gpt2"), tmp_path / "folder")
    for door in (bpe.load, bpe.open_encoder):
        found = door(folder, pretokenizer="llama3")
        assert found.special_tokens == {"<new>": N}
