"""An adapted tokenizer is written into its base's GGUF file, which loses only its tensors."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.adapting.adapted import Adapted, trace_ids
from bpe_core.adapting.extend import extend
from bpe_core.adapting.replace import replace
from bpe_core.adapting.shrink import shrink
from bpe_core.formats.adapted.adapted_files import adapted_files
from bpe_core.formats.adapted.adapted_gguf import vocabulary_alone
from bpe_core.formats.adapted.adapting_base import open_base
from bpe_core.formats.gguf.gguf_header import key_places
from bpe_core.formats.load_save import loads
from bpe_core.unicode.byte_alphabet import to_printable

GERMAN: Final = "Die Straßenbahnhaltestelle der Universitätsbibliothek. " * 9
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
        return trace_ids(base, extend(base, CORPUS, 9).tokenizer)
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
    base = open_base(path)
    assert [*base.files] == ["huge-vocab.gguf"]  # not the name of the model's file
    made = adapted("extended", base.tokenizer)
    expected = adapted_files(made, {"huge.gguf": model})
    assert adapted_files(made, base.files) == expected
    assert [*expected] == ["huge-vocab.gguf"]


def test_nothing_but_tensors_and_splits_goes_from_an_unchanged_tokenizer(model: bytes) -> None:
    tokenizer = loads({"small.gguf": model})
    ((_, data),) = adapted_files(trace_ids(tokenizer, tokenizer), {"small.gguf": model}).items()
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
