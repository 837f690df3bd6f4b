"""Large untrusted tokenizer files are first opened in a process with limits."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import dumps, open_untrusted, read_description
from bpe_core.formats.opening import opening
from bpe_core.formats.opening.engines import choose_engine
from bpe_core.formats.sentencepiece_model import CONTROL, NORMAL, UNKNOWN, Piece, write_model
from tests.foreign_models import word_piece
from tests.new_process import run_python
from tests.zipping import make_zip

TEXT = "The quick brown fox’s naïve café, 12345 times."


def no_child(*_: Any, **__: Any) -> Any:
    raise AssertionError("a process was started")


def test_a_small_file_is_worth_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bpe_core.processes.call", no_child)
    data = dumps(bpe.gpt2().truncated(1_000), "huggingface")["tokenizer.json"]
    opened = open_untrusted({"tokenizer.json": data})
    assert opened.encode("hug") == bpe.gpt2().truncated(1_000).encode("hug")
    with pytest.raises(AssertionError, match="a process was started"):
        open_untrusted({"a.zip": make_zip({"tokenizer.json": data})})


def tekken_with_its_own_pattern() -> dict[str, bytes]:
    tokens = [*(bytes([n]) for n in range(256)), b"fox", b"he"]
    vocab = [
        {"rank": rank, "token_bytes": b64encode(token).decode()}
        for rank, token in enumerate(tokens)
    ]
    config = {"pattern": "[a-z]+|[^a-z]+", "default_vocab_size": len(tokens) + 10}
    config |= {"default_num_special_tokens": 10}
    return {"tekken.json": json.dumps({"config": config, "vocab": vocab}).encode()}


def normalized_with_added_tokens() -> dict[str, bytes]:
    described = json.loads(dumps(bpe.gpt2().truncated(1_000), "huggingface")["tokenizer.json"])
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    vocab = described["model"]["vocab"]
    vocab["brown"] = 2_000
    described["added_tokens"].append({"id": 2_000, "content": "brown", **flags})
    described["normalizer"] = {"type": "NFC"}
    return {"tokenizer.json": json.dumps(described).encode()}


PIECES = [Piece("<unk>", 0, UNKNOWN), Piece("<s>", 0, CONTROL), Piece("▁", -1, NORMAL)]
KINDS = {
    "plain": dumps(bpe.gpt2().truncated(1_000), "gpt2"),
    "with counts": dumps(bpe.train(load_sample("notebook"), bpe.TrainingConfig(300)), "native"),
    "normalized": normalized_with_added_tokens(),
    "of tokenizers": {"tokenizer.json": word_piece().to_str().encode()},
    "of tiktoken": tekken_with_its_own_pattern(),
    "of sentencepiece": {"tokenizer.model": write_model([*PIECES, Piece("a", -2, NORMAL)], "BPE")},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_description_from_another_process_makes_the_same_encoder(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MIN_BYTES", 0)
    chosen, here = choose_engine(read_description(KINDS[kind]))
    there = open_untrusted(KINDS[kind])
    assert type(there.encoder) is type(here.encoder)
    assert (there.name, there.provenance) == (here.name, here.provenance)
    assert there.provenance == chosen.provenance
    assert there.fingerprint == here.fingerprint
    assert there.vocab == here.vocab
    assert there.special_tokens == here.special_tokens
    assert there.encode(TEXT) == here.encode(TEXT)
    assert there.segments(TEXT) == here.segments(TEXT)


@pytest.mark.slow
def test_errors_and_limits_of_the_process_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = b"".join(b64encode(b"%06d" % n) + b" %d\n" % n for n in range(20_000))
    with pytest.raises(bpe.ConfigError, match="does not store its pre-tokenizer"):
        open_untrusted({"a.tiktoken": ranks})
    data = make_zip({"tokenizer.json": b'{"model": [' + b"[]," * 5_000_000 + b"[]]}"})
    monkeypatch.setattr(opening, "_MAX_MEMORY", 400_000_000)
    with pytest.raises(bpe.FormatError, match=r"took more than 0\.\d GB of memory"):
        open_untrusted({"a.zip": data})
    monkeypatch.setattr(opening, "_MAX_MEMORY", 2**31)
    monkeypatch.setattr(opening, "_MAX_PROCESSOR_SECONDS", 1)
    vocab = {f"{n}": n for n in range(1_900_000)}
    slow = json.dumps({"model": {"type": "WordPiece", "vocab": vocab, "unk_token": "0"}}).encode()
    with pytest.raises(bpe.FormatError, match="took more than 1 seconds"):
        open_untrusted({"tokenizer.json": slow})


BOMBS = """
import json, resource, struct, sys
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from base64 import b64encode
from bpe_core.errors import BpeError
from bpe_core.formats.opening.opening import open_untrusted
from tests.zipping import make_zip
lists = b'{"model": [' + b"[]," * 11_000_000 + b"[]]}"
spaces = make_zip({"tokenizer.json": b" " * 250_000_000})
bytes256 = b"".join(b64encode(bytes([n])) + b" %d\\n" % n for n in range(256))
count = struct.pack("<IQQQ", 3, 0, 1, 21) + b"tokenizer.ggml.tokens"
count += struct.pack("<IIQ", 9, 8, 2**40)
for name, data in {
    "lists.json": lists,
    "packed.zip": make_zip({"tokenizer.json": lists}),
    "spaces.zip": spaces,
    "members.zip": make_zip({str(n): b"" for n in range(20_000)}),
    "long.tiktoken": bytes256 + b64encode(b"a" * 1_000_000) + b" 256\\n",
    "count.gguf": b"GGUF" + count + bytes(300_000),
    "sentences.model": b"\\x0a\\x80\\x80\\x80\\x80\\x0f" + bytes(300_000),
    "nested.json": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "tekken.json": b'{"config": {}, "vocab": [' + b"{}," * 1_000_000 + b"{}]}",
}.items():
    try:
        print(name, open_untrusted({name: data}, pretokenizer="gpt2").engine)
    except BpeError as error:
        print(name, "refused", error)
"""


@pytest.mark.slow
def test_a_server_with_little_memory_survives_bombs_of_every_kind() -> None:
    lines = run_python(BOMBS).splitlines()
    assert len(lines) == 9
    assert all(" refused " in line for line in lines), lines
