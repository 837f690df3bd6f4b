"""An adapted tokenizer is written into its base's Tekken file, and the rest of the file stays."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from typing import Any

import pytest
import tiktoken

import bpe_core as bpe
from bpe_core.adapting.adapted import Adapted, trace_ids
from bpe_core.adapting.extend import extend
from bpe_core.adapting.replace import replace
from bpe_core.adapting.shrink import shrink
from bpe_core.corpus.samples import load_sample
from bpe_core.formats.adapted.adapted_files import adapted_files, tekken_json
from bpe_core.formats.checking.probe import PROBE
from bpe_core.formats.load_save import loads

GERMAN = "Die Straßenbahnhaltestelle der Universitätsbibliothek. Der Fluß fließt übers Feld. " * 9
CORPUS = bpe.Corpus.from_text(GERMAN)
SPECIAL = ("<unk>", "<s>", "</s>")
N_UNUSED = 5


@cache
def base_file() -> bytes:
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


@cache
def base() -> bpe.Tokenizer:
    return loads({"tekken.json": base_file()})


def adapted(how: str) -> Adapted:
    if how == "extended":
        return trace_ids(base(), extend(base(), CORPUS, 9).tokenizer)
    return shrink(base(), CORPUS, 500) if how == "shrunk" else replace(base(), CORPUS, 9)


@pytest.mark.parametrize("how", ["extended", "shrunk", "replaced"])
def test_the_file_is_read_back_and_the_rest_of_it_stays(how: str) -> None:
    found = adapted(how)
    ((name, data),) = adapted_files(found, {"tekken.json": base_file()}).items()
    assert name == "tekken.json"
    read = loads({name: data})
    for text in (PROBE, GERMAN, *load_sample("multilingual").documents):
        assert read.encode(text) == found.tokenizer.encode(text)
    described: dict[str, Any] = json.loads(data)
    before: dict[str, Any] = json.loads(base_file())
    assert described["image"] == before["image"]
    size = found.tokenizer.vocab_size
    sizes = {"num_vocab_tokens": size - len(SPECIAL), "default_vocab_size": size}
    assert described["config"] == before["config"] | sizes
    assert data.startswith(base_file()[:20])
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
    found = adapted("extended")
    ((_, data),) = adapted_files(found, {"tekken.json": base_file()}).items()
    entries = json.loads(data)["vocab"][-9:]
    new = sorted(found.tokenizer.vocab)[-9:]
    assert [entry["rank"] for entry in entries] == [id - len(SPECIAL) for id in new]
    assert [entry["token_str"].encode() for entry in entries] == [
        found.tokenizer.vocab[id] for id in new
    ]


def test_other_special_tokens_than_the_files_are_refused() -> None:
    described = json.loads(base_file())
    described["config"]["default_num_special_tokens"] += 1
    described["config"]["default_vocab_size"] += 1
    with pytest.raises(bpe.ConfigError, match="needs every special token under its id"):
        tekken_json(adapted("extended"), json.dumps(described).encode(), "tekken.json")


def _tokens(found: Adapted) -> dict[bytes, int]:
    special = set(found.tokenizer.special_tokens.values())
    return {token: id for id, token in found.tokenizer.vocab.items() if id not in special}
