"""An adapted tokenizer is written into its base's GGUF or Tekken file; the rest of it stays."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np
import pytest
import tiktoken

import bpe_core as bpe
from bpe_core.adapting import Adapted, extend, replace, shrink
from bpe_core.corpus import load_sample
from bpe_core.formats import BaseFiles, adapted_files, loads
from bpe_core.formats.adapted.adapted_files import tekken_json
from bpe_core.formats.adapted.adapted_vocabulary import vocabulary_alone
from bpe_core.formats.checking.probe import PROBE
from bpe_core.formats.gguf.gguf_header import key_places
from bpe_core.unicode import to_printable

GERMAN: Final = "Die Straßenbahnhaltestelle der Universitätsbibliothek. Der Fluß fließt. " * 9
CORPUS: Final = bpe.Corpus.from_text(GERMAN)
SMALL: Final = bpe.gpt2().truncated(300)
NONE: Final = 0xFFFFFFFF


def write_model(path: Path, **changes: Any) -> bytes:
    """Write GPT-2's first tokens and a tensor with the `gguf` library; return the file."""
    tokens = [to_printable(SMALL.vocab[id]) for id in range(556)] + ["<|end|>", "<think>"]
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_string("general.name", "Größe")
    writer.add_array("general.tags", ["one", "two"])
    writer.add_vocab_size(len(tokens))
    writer.add_float32("gpt2.some_epsilon", 1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 556 + [3, 4])
    writer.add_token_scores([-float(id) for id in range(len(tokens))])
    merges = [[to_printable(SMALL.vocab[id]) for id in merge.pair] for merge in SMALL.merges]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(changes.get("eos", 556))
    writer.add_pad_token_id(NONE)
    writer.add_array("tokenizer.ggml.eog_token_ids", [556, 557])
    writer.add_add_bos_token(False)
    writer.add_chat_template("{{ messages }}")
    writer.add_uint16("split.count", 2)
    writer.add_tensor("token_embd.weight", np.ones((len(tokens), 4), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_model(tmp_path_factory.mktemp("gguf") / "small.gguf")


@cache
def adapted(how: str, base: bpe.Tokenizer) -> Adapted:
    if how == "extended":
        return Adapted.of(base, extend(base, CORPUS, 9).tokenizer)
    return shrink(base, CORPUS, 400) if how == "shrunk" else replace(base, CORPUS, 9)


def fields(path: Path, data: bytes) -> dict[str, Any]:
    """Return what the `gguf` library reads from a file: each key's types and value."""
    path.write_bytes(data)
    reader = gguf.GGUFReader(path)
    assert reader.tensors == []
    return {
        name: (field.types, field.contents())
        for name, field in reader.fields.items()
        if not name.startswith("GGUF.")
    }


@pytest.mark.parametrize("how", ["extended", "shrunk", "replaced"])
def test_the_gguf_library_reads_the_new_vocabulary_and_all_else_as_it_was(
    how: str, model: bytes, tmp_path: Path
) -> None:
    made = adapted(how, loads({"small.gguf": model}))
    ((name, data),) = adapted_files(made, {"small.gguf": model}).items()
    assert name == "small-vocab.gguf"
    assert loads({name: data}) == made.tokenizer
    theirs = fields(tmp_path / name, data)
    before = fields(tmp_path / "old", vocabulary_alone(model, "small.gguf")[1])
    assert [*theirs] == [key for key in before if key != "split.count"]
    assert all(theirs[key][0] == before[key][0] for key in theirs)
    tokenizer, old_ids = made.tokenizer, made.old_ids.tolist()
    end, think = (tokenizer.special_tokens[text] for text in ("<|end|>", "<think>"))
    expected = {key: value for key, (_, value) in before.items() if key in theirs} | {
        "gpt2.vocab_size": tokenizer.vocab_size,
        "tokenizer.ggml.eos_token_id": end,
        "tokenizer.ggml.eog_token_ids": [end, think],
    }
    values = {key: value for key, (_, value) in theirs.items()}
    tokens, types, scores, merges = (
        (expected.pop(key), values.pop(key))
        for key in (
            f"tokenizer.ggml.{part}" for part in ("tokens", "token_type", "scores", "merges")
        )
    )
    assert values == expected
    assert expected["tokenizer.ggml.padding_token_id"] == NONE
    texts = dict(tokenizer.special_tokens)
    assert {text: tokens[1].index(text) for text in texts} == texts
    assert merges[1] == [
        " ".join(to_printable(tokenizer.vocab[id]) for id in merge.pair)
        for merge in tokenizer.merges
    ]
    again = {id for id, old in enumerate(old_ids) if old < 0 or old in made.removed}
    assert bool(again) == (how != "shrunk")
    assert types[1] == [1 if id in again else types[0][old] for id, old in enumerate(old_ids)]
    assert [score for id, score in enumerate(scores[1]) if id not in again] == [
        scores[0][old] for id, old in enumerate(old_ids) if id not in again
    ]
    assert [scores[1][id] for id in sorted(again)] == [-558.0 - n for n in range(len(again))]


def test_a_model_of_any_size_is_adapted_by_its_keys_alone(model: bytes, tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    path.write_bytes(model)
    with path.open("r+b") as file:
        file.truncate(3 << 40)  # a sparse file of three terabytes
    base = BaseFiles.open(path)
    assert [*base.files] == ["huge-vocab.gguf"]  # not the name of the model's file
    made = adapted("extended", base.tokenizer)
    expected = adapted_files(made, {"huge.gguf": model})
    assert adapted_files(made, base.files) == expected
    assert [*expected] == ["huge-vocab.gguf"]


def test_nothing_but_tensors_and_splits_goes_from_an_unchanged_tokenizer(model: bytes) -> None:
    tokenizer = loads({"small.gguf": model})
    ((_, data),) = adapted_files(Adapted.of(tokenizer, tokenizer), {"small.gguf": model}).items()
    (_, old), (n_tensors, new) = key_places(model), key_places(data)
    assert n_tensors == 0
    assert [data[place.start : place.end] for place in new] == [
        model[place.start : place.end] for place in old if place.name != b"split.count"
    ]


@pytest.mark.parametrize(
    ("eos", "how", "message"),
    [
        (300, "shrunk", r"x\.gguf uses the token 300 .* removed. Pin it"),
        (560, "extended", "id 560, which no token of the base has and which a new one would get"),
    ],
)
def test_an_id_that_would_name_another_token_is_refused(
    eos: int, how: str, message: str, tmp_path: Path
) -> None:
    data = write_model(tmp_path / "x.gguf", eos=eos)
    base = loads({"x.gguf": data})
    made = shrink(base, CORPUS, 258) if how == "shrunk" else adapted(how, base)
    with pytest.raises(bpe.ConfigError, match=message):
        adapted_files(made, {"x.gguf": data})


def test_a_file_of_another_tokenizer_is_refused(model: bytes) -> None:
    made = adapted("extended", loads({"small.gguf": model}))
    other = model.replace(b"<think>", b"<thank>")
    with pytest.raises(bpe.ConfigError, match="encode differently"):
        adapted_files(made, {"small.gguf": other})
    with pytest.raises(bpe.FormatError, match="cut short"):
        adapted_files(made, {"small.gguf": model[:4000]})


# Tekken files: the vocabulary is written into the base's, and the rest of the file stays


SPECIAL = ("<unk>", "<s>", "</s>")
N_UNUSED = 5


@cache
def tekken_file() -> bytes:
    """Return a Tekken file with special tokens, and with ranks that its model does not use."""
    config = bpe.TrainingConfig(700, pretokenizer="tekken", special_tokens=SPECIAL)
    tokenizer = bpe.train(load_sample("multilingual"), config).tokenizer
    tokens = [tokenizer.vocab[id] for id in range(len(SPECIAL), tokenizer.vocab_size)]
    tokens += [b"unused %d" % n for n in range(N_UNUSED)]
    described = {
        "config": {
            "pattern": tokenizer.pretokenizer.pattern,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": tokenizer.vocab_size,
            "default_num_special_tokens": len(SPECIAL),
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "image": {"image_patch_size": 16},
    }
    return json.dumps(described, indent=4).encode()


def adapted_tekken(how: str) -> Adapted:
    return adapted(how, loads({"tekken.json": tekken_file()}))


@pytest.mark.parametrize("how", ["extended", "shrunk", "replaced"])
def test_the_file_is_read_back_and_the_rest_of_it_stays(how: str) -> None:
    found = adapted_tekken(how)
    ((name, data),) = adapted_files(found, {"tekken.json": tekken_file()}).items()
    assert name == "tekken.json"
    read = loads({name: data})
    for text in (PROBE, GERMAN, *load_sample("multilingual").documents):
        assert read.encode(text) == found.tokenizer.encode(text)
    described: dict[str, Any] = json.loads(data)
    before: dict[str, Any] = json.loads(tekken_file())
    assert described["image"] == before["image"]
    size = found.tokenizer.vocab_size
    sizes = {"num_vocab_tokens": size - len(SPECIAL), "default_vocab_size": size}
    assert described["config"] == before["config"] | sizes
    assert data.startswith(tekken_file()[:20])
    # tiktoken, which Mistral's library runs, merges by the same ranks.
    peer = tiktoken.Encoding(
        "tekken",
        pat_str=described["config"]["pattern"],
        mergeable_ranks={token: id - len(SPECIAL) for token, id in _tokens(found).items()},
        special_tokens={},
    )
    ids = [id + len(SPECIAL) for id in peer.encode_ordinary(GERMAN)]
    assert ids == found.tokenizer.encode(GERMAN)


def test_new_tokens_are_listed_last_with_their_text() -> None:
    found = adapted_tekken("extended")
    ((_, data),) = adapted_files(found, {"tekken.json": tekken_file()}).items()
    entries = json.loads(data)["vocab"][-9:]
    new = sorted(found.tokenizer.vocab)[-9:]
    assert [entry["rank"] for entry in entries] == [id - len(SPECIAL) for id in new]
    assert [entry["token_str"].encode() for entry in entries] == [
        found.tokenizer.vocab[id] for id in new
    ]


def test_other_special_tokens_than_the_files_are_refused() -> None:
    described = json.loads(tekken_file())
    described["config"]["default_num_special_tokens"] += 1
    described["config"]["default_vocab_size"] += 1
    with pytest.raises(bpe.ConfigError, match="needs every special token under its id"):
        tekken_json(adapted_tekken("extended"), json.dumps(described).encode(), "tekken.json")


def _tokens(found: Adapted) -> dict[bytes, int]:
    special = set(found.tokenizer.special_tokens.values())
    return {token: id for id, token in found.tokenizer.vocab.items() if id not in special}
