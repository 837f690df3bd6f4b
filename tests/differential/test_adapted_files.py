"""Adapted tokenizers, written into their base's files, give the same ids in other libraries."""

from __future__ import annotations

import io
import json
import re
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import tiktoken
import tokenizers

import bpe_core as bpe
from bpe_core.adapting import Adapted, extend, replace, shrink
from bpe_core.corpus import load_sample
from bpe_core.formats import (
    CATALOGUE,
    adapted_files,
    dumps,
    loads,
    read_description,
    row_files,
    run_by_library,
)
from bpe_core.formats.adapted.adapted_files import parts_table
from bpe_core.formats.checking.probe import PROBE
from tests.more_cases import first_of
from tests.oracles import TOKENIZERS, one_at_a_time, opened_by_name

GERMAN = "Die Straßenbahnhaltestelle der Universitätsbibliothek. Der Fluß fließt übers Feld. " * 9
CORPUS = bpe.Corpus.from_text(GERMAN)
RUSSIAN = "Адрес электронной почты, ключ электронной подписи и письмо электронной почты. " * 9
"""Llama 3.1's merges join ` электронной` from other parts than the ranks of its tokens do."""
TEXTS = [PROBE, GERMAN, RUSSIAN, *load_sample("multilingual").documents]
HOW = ["extended", "shrunk", "replaced"]
NAMES = ["llama3", "qwen2", "gpt2", "deepseek-v3", "llama3.1"]
WITH_FILES = ("deepseek-v3", "llama3.1")
"""Published as a tokenizer.json."""


@cache
def base_file(name: str) -> bytes:
    """Return the tokenizer.json of a published tokenizer, its own or one written here."""
    if name in WITH_FILES:
        return (TOKENIZERS / CATALOGUE[name].file_name).read_bytes()
    return dumps(base(name), "huggingface")["tokenizer.json"]


@cache
def base(name: str) -> bpe.Tokenizer:
    if name in WITH_FILES:
        return read_huggingface(base_file(name))
    encoder = opened_by_name(name).encoder
    assert isinstance(encoder, bpe.Tokenizer)
    return encoder


@cache
def adapted(name: str, how: str) -> Adapted:
    text = RUSSIAN if name == "llama3.1" else GERMAN
    return adapt(base(name), how, corpus=bpe.Corpus.from_text(text))


name = one_at_a_time(base_file, base, adapted, opened_by_name)


def read_huggingface(data: bytes) -> bpe.Tokenizer:
    return loads({"tokenizer.json": data})


def adapt(base: bpe.Tokenizer, how: str, n: int = 9, corpus: bpe.Corpus = CORPUS) -> Adapted:
    if how == "extended":
        return Adapted.of(base, extend(base, corpus, n).tokenizer)
    if how == "shrunk":
        return shrink(base, corpus, max(base.vocab_size // 2, min(base.vocab_size - 9, 500)))
    return replace(base, corpus, n)


GPT2, LLAMA = [("gpt2", how) for how in HOW], ("llama3.1", "extended")


@pytest.mark.parametrize(
    ("name", "how"), first_of(product(NAMES, HOW), *GPT2, LLAMA), indirect=["name"]
)
def test_a_tokenizer_json_gives_equal_ids_in_tokenizers(name: str, how: str) -> None:
    made = adapted(name, how)
    files = adapted_files(made, {"tokenizer.json": base_file(name)})
    peer = tokenizers.Tokenizer.from_str(files["tokenizer.json"].decode())
    assert peer.get_vocab_size() == made.tokenizer.vocab_size
    for text in TEXTS:
        theirs = peer.encode(text, add_special_tokens=False).ids
        assert theirs == made.tokenizer.encode(text, allowed_special="all")
    for text, id in made.tokenizer.special_tokens.items():
        assert peer.token_to_id(text) == id
    old, new = json.loads(base_file(name)), json.loads(files["tokenizer.json"])
    assert without_vocabulary(new) == without_vocabulary(old)
    if how == "extended":
        assert new["added_tokens"] == old["added_tokens"]
        assert old["model"]["vocab"].items() <= new["model"]["vocab"].items()
        assert new["model"]["merges"][: len(old["model"]["merges"])] == old["model"]["merges"]


@pytest.mark.parametrize("how", first_of(["extended", "replaced"], "extended"))
def test_falcons_new_tokens_do_not_cross_the_bytes_that_it_cuts_out(how: str) -> None:
    # Its steps see bytes such as 0xB2, in the letter в, as numbers like ².
    data = (TOKENIZERS / CATALOGUE["falcon"].file_name).read_bytes()
    base = loads({"falcon.gguf": data})
    made = adapt(base, how, corpus=bpe.Corpus.from_text(RUSSIAN))
    files = adapted_files(made, {"falcon.gguf": data})
    library = run_by_library(read_description(files))
    assert library.engine.startswith("tokenizers")
    for text in TEXTS[1:]:  # the first has bytes that are not tokens
        assert library.encode(text) == made.tokenizer.encode(text)


def without_vocabulary(described: dict[str, Any]) -> dict[str, Any]:
    model = {k: v for k, v in described["model"].items() if k not in ("vocab", "merges")}
    added = [{**token, "id": None} for token in described["added_tokens"]]
    template = re.sub(r'"ids": \[\d+\]', "", json.dumps(described["post_processor"]))
    return {**described, "model": model, "added_tokens": added, "post_processor": template}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", first_of(NAMES[:2], "qwen2"), indirect=True)
def test_a_tiktoken_file_gives_equal_ids_in_tiktoken(name: str, how: str) -> None:
    made = adapted(name, how)
    (written,) = adapted_files(made, dumps(base(name), "tiktoken")).values()
    cut = made.tokenizer.pretokenizer.name
    again = loads({"a.tiktoken": written}, cut, made.tokenizer.special_tokens)
    # If merges make every token that is left, looking words up makes no difference.
    assert (again.vocab, again.merges) == (made.tokenizer.vocab, made.tokenizer.merges)
    ranks = {
        token: id
        for id, token in made.tokenizer.vocab.items()
        if id not in made.tokenizer.special_tokens.values()
    }
    peer = tiktoken.Encoding(
        "peer",
        pat_str=made.tokenizer.pretokenizer.pattern or "",
        mergeable_ranks=ranks,
        special_tokens=dict(made.tokenizer.special_tokens),
    )
    for text in TEXTS:
        assert peer.encode_ordinary(text) == made.tokenizer.encode(text)


def test_ranks_that_do_not_imply_the_merges_are_refused() -> None:
    base = bpe.Tokenizer(
        vocab={**{b: bytes([b]) for b in range(256)}, 256: b"xy", 257: b"ab"},
        merges=[(97, 98, 257), (120, 121, 256)],
        pretokenizer="gpt2",
    )
    made = Adapted.of(base, base)
    with pytest.raises(bpe.ConfigError, match="tiktoken merges in the order of ids"):
        adapted_files(made, {"a.tiktoken": b"YQ== 0\n"})


@pytest.mark.parametrize("how", HOW)
def test_gpt2s_two_files_and_the_native_one(how: str) -> None:
    made = adapted("gpt2", how)
    for format in ("gpt2", "native"):
        files = adapted_files(made, dumps(bpe.gpt2(), format))
        assert loads(files) == made.tokenizer
    if how == "extended":
        old = dumps(bpe.gpt2(), "gpt2")
        new = adapted_files(made, old)
        assert new["merges.txt"].startswith(old["merges.txt"])
        assert new["vocab.json"].startswith(old["vocab.json"][:-1])


TEMPLATE = {
    "type": "Sequence",
    "processors": [
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
            ],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
    ],
}
PADDING = {
    "strategy": "BatchLongest",
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 2,
    "pad_type_id": 0,
    "pad_token": "<pad>",
}


def small_base(
    post_processor: object, *, last_special: bool
) -> tuple[bpe.Tokenizer, dict[str, Any]]:
    """Return a tokenizer and its tokenizer.json, which names ids in every place that it can."""
    config = bpe.TrainingConfig(300, special_tokens=("<unk>", "<s>", "<pad>"))
    base = bpe.train(
        bpe.Corpus.from_text("hug hugs hugging pun puns fun funny bun " * 3), config
    ).tokenizer
    described = json.loads(dumps(base, "huggingface")["tokenizer.json"])
    described |= {"post_processor": post_processor, "padding": PADDING}
    if last_special:  # added after training, as with most chat models
        id = base.vocab_size
        added = {**described["added_tokens"][0], "id": id, "content": "<|im_end|>"}
        described["added_tokens"].append(added)
    return read_huggingface(json.dumps(described).encode()), described


@pytest.mark.parametrize("indent", [None, 2, 4])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    "post_processor",
    [
        TEMPLATE,
        {
            "type": "RobertaProcessing",
            "sep": ["<s>", 1],
            "cls": ["<unk>", 0],
            "trim_offsets": True,
            "add_prefix_space": False,
        },
        {"type": "BertProcessing", "sep": ["<s>", 1], "cls": ["<unk>", 0]},
    ],
    ids=["template", "roberta", "bert"],
)
def test_ids_in_template_padding_and_added_tokens(
    post_processor: object, how: str, indent: int | None
) -> None:
    base, described = small_base(post_processor, last_special=True)
    # Put special tokens last, so that their ids change when other tokens are removed.
    order = sorted(base.vocab, key=lambda id: (id in base.special_tokens.values(), id))
    moved = {old: new for new, old in enumerate(order)}
    text = json.dumps(renumbered(described, moved), ensure_ascii=False, indent=indent)
    base = read_huggingface(text.encode())
    made = adapt(base, how, 5)
    new = adapted_files(made, {"tokenizer.json": text.encode()})["tokenizer.json"].decode()
    peer = tokenizers.Tokenizer.from_str(new)
    special = made.tokenizer.special_tokens
    for token in json.loads(new)["added_tokens"]:
        assert special[token["content"]] == token["id"]
    assert peer.padding is not None
    assert peer.padding["pad_id"] == special["<pad>"]
    assert special["<s>"] in peer.encode("hugs").ids
    assert special["<s>"] == peer.token_to_id("<s>")
    before, after = json.loads(text), json.loads(new)
    assert without_vocabulary(after).keys() == without_vocabulary(before).keys()
    assert before["normalizer"] == after["normalizer"]
    # The layout is that of the old file, so only values have changed.
    assert new == json.dumps(after, ensure_ascii=False, indent=indent)


def renumbered(described: dict[str, Any], moved: dict[int, int]) -> dict[str, Any]:
    changed = json.loads(json.dumps(described))
    vocabulary = changed["model"]["vocab"]
    changed["model"]["vocab"] = {text: moved[id] for text, id in vocabulary.items()}
    for token in changed["added_tokens"]:
        token["id"] = moved[token["id"]]
    changed["padding"]["pad_id"] = moved[2]
    processor = changed["post_processor"]
    if processor["type"] == "Sequence":
        processor["processors"][1]["special_tokens"]["<s>"]["ids"] = [moved[1]]
    else:
        processor["sep"][1], processor["cls"][1] = moved[1], moved[0]
    return changed


def test_an_added_token_that_the_vocabulary_leaves_out_keeps_its_id() -> None:
    # tokenizers gives it the next free id, whatever the file says.
    base, described = small_base(None, last_special=True)
    assert "<|im_end|>" not in described["model"]["vocab"]
    made = adapt(base, "extended", 5)
    files = adapted_files(made, {"tokenizer.json": json.dumps(described).encode()})
    peer = tokenizers.Tokenizer.from_str(files["tokenizer.json"].decode())
    assert peer.token_to_id("<|im_end|>") == base.vocab_size - 1
    assert peer.get_vocab_size() == base.vocab_size + 5


def test_compact_json_as_tokenizers_writes_it_stays_as_it_was() -> None:
    peer = tokenizers.Tokenizer.from_str(base_file("gpt2").decode())
    for pretty in (False, True):
        data = peer.to_str(pretty).encode()
        unchanged = Adapted.of(bpe.gpt2(), bpe.gpt2())
        assert adapted_files(unchanged, {"tokenizer.json": data})["tokenizer.json"] == data


def test_the_files_beside_are_renumbered_or_kept() -> None:
    base = bpe.gpt2()
    files = {
        **dumps(base, "transformers"),
        "added_tokens.json": b'{\n  "<|endoftext|>": 50256\n}',
        "chat_template.jinja": b"{{ messages }}",
    }
    made = adapted("gpt2", "shrunk")
    written = adapted_files(made, files)
    assert written.keys() == files.keys()
    id = made.tokenizer.special_tokens["<|endoftext|>"]
    assert written["chat_template.jinja"] == files["chat_template.jinja"]
    assert written["special_tokens_map.json"] == files["special_tokens_map.json"]
    assert written["added_tokens.json"].decode() == f'{{\n  "<|endoftext|>": {id}\n}}'
    old = files["tokenizer_config.json"].decode()
    assert written["tokenizer_config.json"].decode() == old.replace('"50256"', f'"{id}"')


def test_other_formats_are_refused_with_what_to_do() -> None:
    made = adapted("gpt2", "extended")
    for files in ({"tekken.json": b'{"config": {}, "vocab": []}'}, {"a.model": b"\n\x0e"}, {}):
        with pytest.raises(bpe.FormatError, match="huggingface format"):
            adapted_files(made, files)


@pytest.mark.parametrize("how", HOW)
def test_row_files_name_the_rows_of_each_id(how: str) -> None:
    made = adapted("gpt2", how)
    files = row_files(made)
    old_ids = np.load(io.BytesIO(files["old_ids.npy"]))
    parts = np.load(io.BytesIO(files["parts.npy"]))
    rows = json.loads(files["embedding_rows.json"])
    assert old_ids.dtype == parts.dtype == np.int32
    assert old_ids.tolist() == rows["old_ids"] == made.old_ids.tolist()
    assert (parts == parts_table(made)).all()
    assert len(parts) == max(made.tokenizer.vocab) + 1
    for id, token in made.tokenizer.vocab.items():
        listed = [part for part in parts[id].tolist() if part >= 0]
        assert b"".join(bpe.gpt2().vocab[part] for part in listed) == token
        assert listed == (rows["parts"].get(str(id)) or [int(old_ids[id])])
