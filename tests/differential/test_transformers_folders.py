"""Folders and zips of transformers, whose small files add tokens to a vocabulary: the same ids."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer
from transformers.models.auto.tokenization_auto import (
    MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS,
    TOKENIZER_MAPPING_NAMES,
)

import bpe_core as bpe
from bpe_core.adapting import Adapted
from bpe_core.corpus import load_sample
from bpe_core.formats import BaseFiles, adapted_files, dumps, write_files
from bpe_core.formats.sentencepiece_model import (
    BYTE_PIECES,
    NORMAL,
    UNKNOWN,
    Piece,
    write_model,
)
from bpe_core.formats.sidecars import CLASSES, class_name
from bpe_core.types import Format
from scripts.get_tokenizers import CHAT, CHAT_PACKAGES
from tests.more_cases import first_of
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
    return {
        "tokenizer_config.json": {name: each for name, each in fields.items() if each is not None}
    }


def decoder(*tokens: Mapping[str, Any], first: int = N) -> dict[str, Any]:
    return {str(first + n): dict(token) for n, token in enumerate(tokens)}


NEW = {"content": "<new>", "special": True}
ADDED = {"__type": "AddedToken", "lstrip": True, "rstrip": False}
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
    "GPT-NeoX": config(tokenizer_class="GPTNeoXTokenizer", add_prefix_space=True, bos_token="<s>"),
    "the model's config, of GPT-NeoX": {"config.json": {"model_type": "gpt_neox"}},
    "tokens with names": config(
        tokenizer_class="GPT2Tokenizer",
        eoi_token="<s>",
        boi_token="<s>",
        extra_special_tokens={"boi_token": "<new>", "image": "<mask>"},
        additional_special_tokens=["  "],
    ),
    "tokens with names, saved again": config(
        tokenizer_class="GPT2Tokenizer",
        model_specific_special_tokens={"image": "<new>"},
        extra_special_tokens=["<mask>"],
        additional_special_tokens=["<s>"],
    ),
    "no additional tokens": {
        **config(tokenizer_class="GPT2Tokenizer", additional_special_tokens=[]),
        "special_tokens_map.json": {"additional_special_tokens": ["<mask>"], "boi_token": "<new>"},
    },
    "additional tokens emptied later": {
        **config(tokenizer_class="GPT2Tokenizer", additional_special_tokens=["<mask>"]),
        "special_tokens_map.json": {"additional_special_tokens": []},
    },
    "extra tokens of both files": {
        **config(tokenizer_class="GPT2Tokenizer", extra_special_tokens=["<pad>"]),
        "special_tokens_map.json": {
            "extra_special_tokens": ["<mask>", "<pad>", {"content": "<new>", "lstrip": True}]
        },
    },
    "names of both files": {
        **config(tokenizer_class="GPT2Tokenizer", boi_token="<s>", bos_token="<pad>"),
        "special_tokens_map.json": {
            "extra_special_tokens": {"boi_token": "<new>", "x_token": "<mask>"},
            "bos_token": None,
        },
    },
    "tokens written as objects": config(
        tokenizer_class="GPT2Tokenizer",
        bos_token=ADDED | {"content": "<s>"},
        boi_token=ADDED | {"content": "<mask>"},
        extra_special_tokens=[ADDED | {"content": "<new>"}],
    ),
    **{
        f"{name} of a {model} model": {
            **config(tokenizer_class=name, add_prefix_space=True),
            "config.json": {"model_type": model},
        }
        for name, model in (
            (None, "qwen3_vl"),
            (None, "starcoder2"),
            ("GPT2Tokenizer", "llama"),
            ("PreTrainedTokenizerFast", "qwen2"),
            ("LlamaTokenizerFast", "qwen2"),
            ("RobertaTokenizerFast", "qwen2"),
            ("Qwen2Tokenizer", "qwen3"),
        )
    },
}
GENERIC: dict[str, Files] = {
    f"{name} of a {model} model": {
        **config(tokenizer_class=name, add_prefix_space=True, mask_token="<mask>"),
        "config.json": {"model_type": model},
    }
    for name, model in (
        ("PreTrainedTokenizerFast", "gpt2"),
        ("LlamaTokenizerFast", "llama"),
        ("GPT2Tokenizer", "phi3"),
        ("RobertaTokenizer", "granite"),
        (None, "olmo2"),
    )
}


def written(
    sidecars: Files, main: Mapping[str, bytes], folder: Path, template: str | None = "template"
) -> Path:
    folder.mkdir()
    for name, data in main.items():
        (folder / name).write_bytes(data)
    for name, content in sidecars.items():
        (folder / name).write_text(json.dumps(content))
    if template is not None:
        (folder / "chat_template.jinja").write_text(template)
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
            if door is bpe.open_encoder:
                assert found.chat.tokens == peer.special_tokens_map


@pytest.mark.parametrize("name", CASES)
def test_two_files_with_others_next_to_them(name: str, tmp_path: Path) -> None:
    check(written(CASES[name], dumps(SMALL, "gpt2"), tmp_path / "folder"))


def cut_by_its_class(files: Files) -> dict[str, bytes]:
    """Return a small tokenizer.json that cuts text as the class of other files does.

    Such a class cuts in its own way, whatever the file says.
    """
    named = files.get("tokenizer_config.json", {}).get("tokenizer_class")
    name = class_name(named, files.get("config.json", {}).get("model_type"))
    if name not in CUTS:
        return dumps(SMALL, "huggingface")
    described: dict[str, Any] = {**GEMMAS}
    if (cut := CUTS[name]) is not None:
        main = dumps(SMALL.with_changes(pretokenizer=cut), "huggingface")
        described = json.loads(main["tokenizer.json"]) | {"normalizer": {"type": "NFC"}}
    return {"tokenizer.json": json.dumps(described).encode()}


CUTS = {
    "GPTNeoXTokenizer": "gpt2",
    "Qwen2Tokenizer": "qwen2",
    "CohereTokenizer": "starcoder",
    "GemmaTokenizer": None,
}
_SYMBOLS = ["<pad>", "<eos>", "<bos>", "<unk>", *BYTE_PIECES, *dict.fromkeys("▁".join(TEXTS))]
GEMMAS = {
    "added_tokens": [],
    "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    "model": {
        "type": "BPE",
        "vocab": {symbol: id for id, symbol in enumerate(_SYMBOLS)},
        "merges": [["▁", "a"]],
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
    },
}
GEMMAS["model"]["vocab"]["▁a"] = len(_SYMBOLS)


@pytest.mark.parametrize("name", [*CASES, *GENERIC])
def test_a_tokenizer_json_with_others_next_to_it(name: str, tmp_path: Path) -> None:
    files = {**CASES, **GENERIC}[name]
    check(written(files, cut_by_its_class(files), tmp_path / "folder"))


@pytest.mark.parametrize("name", [name for name in GENERIC if "Llama" not in name])
def test_a_class_that_reads_only_tokenizer_json(name: str, tmp_path: Path) -> None:
    folder = written(GENERIC[name], dumps(SMALL, "gpt2"), tmp_path / "folder")
    with pytest.raises(ValueError, match="Couldn't instantiate"):
        AutoTokenizer.from_pretrained(folder)
    for door in (bpe.load, bpe.open_encoder):
        with pytest.raises(bpe.FormatError, match=r"how \w+ of transformers cuts text"):
            door(folder)


def test_the_class_of_each_type_of_model() -> None:
    for model, theirs in TOKENIZER_MAPPING_NAMES.items():
        name = "none" if theirs is None else theirs.removesuffix("Fast")
        ours = class_name(None, model)
        if name == "MistralCommonBackend":  # where that package is installed
            name = "TokenizersBackend"
        known = name in CLASSES or name == "TokenizersBackend"
        assert ours == (name if known else None), model
        if known and model in MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS:
            assert class_name("PreTrainedTokenizerFast", model) == name


@pytest.mark.parametrize("seed", range(12))
def test_random_sidecars(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    tokens = draw.sample(SPECIAL, draw.randint(1, 4))
    flags = ("special", "lstrip", "rstrip", "normalized", "single_word")
    listed = [{"content": text, **{flag: draw.random() < 0.3 for flag in flags}} for text in tokens]
    fields: dict[str, Any] = {
        "tokenizer_class": draw.choice(
            ["GPT2Tokenizer", "RobertaTokenizer", "CodeGenTokenizer", "Qwen2Tokenizer"]
        ),
        "add_prefix_space": draw.random() < 0.3,
    }
    for name in ("additional_special_tokens", "extra_special_tokens"):
        if draw.random() < 0.4:
            fields[name] = draw.sample(SPECIAL, draw.randint(0, 2))
    for name in ("eoi_token", "bos_token"):
        if draw.random() < 0.3:
            fields[name] = ADDED | {"content": draw.choice(SPECIAL)}
    files = config(**fields)
    if draw.random() < 0.5:
        first = N + (draw.random() < 0.2)
        files = config(**fields, added_tokens_decoder=decoder(*listed, first=first))
    else:
        files["added_tokens.json"] = {text: N + n for n, text in enumerate(tokens)}
    role = draw.choice(["bos_token", "pad_token", "mask_token"])
    older: dict[str, Any] = {role: draw.choice(SPECIAL[:-1])}
    if draw.random() < 0.3:
        older["additional_special_tokens"] = draw.sample(SPECIAL, 1)
    files["special_tokens_map.json"] = older
    is_pair = fields["tokenizer_class"] == "Qwen2Tokenizer" or draw.random() < 0.5
    main = dumps(SMALL, "gpt2" if is_pair else "huggingface")
    check(written(files, main, tmp_path / "folder"))


def with_named_templates(config: dict[str, Any]) -> None:
    text = config["chat_template"]
    source = text if isinstance(text, str) else text[0]["template"]
    config["chat_template"] = {"tool_use": "tools", "default": source}


def without_a_default(config: dict[str, Any]) -> None:
    config["chat_template"] = [{"name": "rag", "template": "a"}, {"name": "tool", "template": "b"}]


def with_tokens_named(config: dict[str, Any]) -> None:
    config["extra_special_tokens"] = {"boi_token": "<new>", "audio": "<mask>"}


def without_listed_tokens(config: dict[str, Any]) -> None:
    config["additional_special_tokens"] = []


def without_a_decoder(config: dict[str, Any]) -> None:
    config.pop("added_tokens_decoder", None)
    config["additional_special_tokens"] = []


def with_a_generic_class(config: dict[str, Any]) -> None:
    config["tokenizer_class"] = "PreTrainedTokenizerFast"


def without_a_class(config: dict[str, Any]) -> None:
    config.pop("tokenizer_class")
    config.pop("eos_token")


MODEL_TYPES = {"aya-expanse": "cohere", "deepseek-v3": "deepseek_v3", "mistral-nemo": "mistral"}
CHANGES = (
    with_named_templates,
    without_a_default,
    with_tokens_named,
    without_listed_tokens,
    without_a_decoder,
    with_a_generic_class,
    without_a_class,
)


@pytest.mark.usefixtures("rendered_here")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", first_of(CHAT_PACKAGES, "gemma3", "qwen3"))
def test_a_published_folder_with_a_change(
    name: str, change: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    changed = json.loads((CHAT / name / "tokenizer_config.json").read_text("utf-8"))
    change(changed)
    model = MODEL_TYPES.get(name, re.split(r"[.\d]", name)[0] + ("2" if "qwen2" in name else ""))
    files: Files = {
        "tokenizer_config.json": changed,
        "config.json": {"model_type": model},
        "special_tokens_map.json": {"pad_token": "<new>", "additional_special_tokens": ["<mask>"]},
    }
    # A small vocabulary, because the files next to it are what is tested.
    folder = written(files, cut_by_its_class(files), tmp_path / "folder", template=None)
    check(folder)
    chat, peer = bpe.open_encoder(folder).chat, AutoTokenizer.from_pretrained(folder)
    assert chat is not None
    talk = [{"role": "user", "content": "Hug?"}]
    if change is without_a_default:
        with pytest.raises(ValueError, match="no default specified"):
            peer.apply_chat_template(talk, tokenize=False)
        with pytest.raises(bpe.ChatTemplateError, match="none is called default: rag, tool"):
            chat.render(talk)
    else:
        assert chat.render(talk) == peer.apply_chat_template(talk, tokenize=False)


ADAPTABLE = [  # the others have a normalizer, or tokens that take the space next to them
    "decoder",
    "older files",
    "older files are not read with a decoder",
    "the model's config",
    "Phi",
    "tokens with names",
    "tokens with names, saved again",
    "no additional tokens",
    "additional tokens emptied later",
    "names of both files",
]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        *((name, "gpt2") for name in ADAPTABLE),
        *((name, "huggingface") for name in [*ADAPTABLE, *GENERIC]),
    ],
)
def test_a_folder_with_added_tokens_is_adapted(name: str, format: Format, tmp_path: Path) -> None:
    files = {**CASES, **GENERIC}[name]
    folder = written(files, dumps(SMALL, format), tmp_path / "folder")
    base = BaseFiles.open(folder)
    run = bpe.extend(base.tokenizer, TEXTS[:-1], n_tokens=5)
    n_left = base.tokenizer.vocab_size - 3
    for adapted in (
        Adapted.of(base.tokenizer, run.tokenizer),
        bpe.shrink(
            base.tokenizer, TEXTS[:-1], n_left, pinned=base.tokenizer.special_tokens.values()
        ),
    ):
        out = tmp_path / str(adapted.tokenizer.vocab_size)
        write_files(adapted_files(adapted, base.files), out)
        if "config.json" in files:  # of the model, in whose folder they belong
            (out / "config.json").write_bytes((folder / "config.json").read_bytes())
        assert BaseFiles.open(out).tokenizer == adapted.tokenizer
        peer = AutoTokenizer.from_pretrained(out)
        for text in TEXTS:
            theirs = peer.encode(text, add_special_tokens=False)
            assert adapted.tokenizer.encode(text, allowed_special="all") == theirs


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
        ({"config.json": {"model_type": "clip"}}, "how a model of type 'clip' cuts text"),
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
