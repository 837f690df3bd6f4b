"""Thousands of texts get the same ids from each format's file in the library that reads it."""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import FOLDER, dumps, find_reader, write_files
from bpe_core.formats.checking.opened_elsewhere import compare_ids, run_lines
from bpe_core.formats.checking.probe import Probe, encodable
from bpe_core.formats.folder_files import FORMATS
from bpe_core.types import Format

N_TEXTS = 3_000
SPECIAL = ("<|endoftext|>", "<|user|>", "[SEP]")
PIECES = (
    *"aZéſßЖא你あ각नüʰªǅ0٣²Ⅷ½५ \t\n\r'’\"!?.,_-/<>|&$\\`*#",
    *"\x00\x0b\x0c\x1c\x1f\x7f\x85\xa0\xad\u2003\u2028\u3000",
    *"\u200b\u200c\u200d\u200e\u202e\ufeff\ufffd\ue000\U0010ffff\u0301\u0327\u20dd\ufe0f🙂🏽🇩",
    "'s",
    "'LL",
    "'ſ",
    "'ve",
    " the",
    "ing",
    "</w>",
    "👩‍👩‍👧",
    "e\u0301",
    "^^^^",
    "2024",
    "a" * 30,
    " " * 9,
    "\r\n\r\n",
    "\n\n\n",
    " \t ",
    "don't",
    "I'LL",
    *SPECIAL,
)
CONFIGS = {
    "gpt2": bpe.TrainingConfig(900, special_tokens=SPECIAL),
    "cl100k": bpe.TrainingConfig(900, pretokenizer="cl100k", special_tokens=SPECIAL),
    "o200k": bpe.TrainingConfig(900, pretokenizer="o200k", special_tokens=SPECIAL),
    "none": bpe.TrainingConfig(600, pretokenizer="none", special_tokens=()),
    "custom": bpe.TrainingConfig(600, pretokenizer=r"regex: ?[a-z]+|\s+", special_tokens=SPECIAL),
    "whitespace": bpe.TrainingConfig(900, pretokenizer="whitespace", special_tokens=SPECIAL),
    "words": bpe.TrainingConfig(900, pretokenizer="words-punctuation", special_tokens=SPECIAL),
    "seen": bpe.TrainingConfig(900, alphabet="seen", special_tokens=SPECIAL),
    "characters": bpe.TrainingConfig(1_500, base="characters", special_tokens=SPECIAL),
    "llama": bpe.TrainingConfig(
        1_500,
        base="characters",
        byte_fallback=True,
        character_coverage=0.99,
        pretokenizer="metaspace",
        special_tokens=SPECIAL,
    ),
}
LACKING = {
    ("whitespace", "tiktoken"),
    ("words", "tiktoken"),
    ("seen", "tiktoken"),
    ("characters", "tiktoken"),
    ("characters", "gpt2"),
    ("llama", "tiktoken"),
    ("llama", "gpt2"),
    *((name, "sentencepiece") for name in ("GPT-2", *CONFIGS) if name != "llama"),
    *((name, "gguf") for name in CONFIGS if name not in ("gpt2", "o200k")),
}
"""The tokenizers that a format cannot hold, as (tokenizer, format)."""


@cache
def tokenizer_named(name: str) -> bpe.Tokenizer:
    if name == "GPT-2":
        return bpe.gpt2()
    return bpe.train(load_sample("multilingual"), CONFIGS[name]).tokenizer


@cache
def make_probe(name: str) -> Probe:
    draw = random.Random(name)
    tokenizer = tokenizer_named(name)
    texts = ["".join(draw.choices(PIECES, k=draw.randint(0, 24))) for _ in range(N_TEXTS)]
    texts = [encodable(tokenizer, text) for text in texts]
    ids = [tuple(tokenizer.encode(text, allowed_special="all")) for text in texts]
    return Probe(tuple(texts), tuple(ids))


@pytest.mark.parametrize(
    ("name", "format"),
    [
        (name, format)
        for name in ["GPT-2", *CONFIGS]
        for format in FORMATS
        if (name, format) not in LACKING
    ],
)
def test_the_reader_of_a_format_gives_the_same_ids(
    name: str, format: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe, tokenizer = make_probe(name), tokenizer_named(name)
    assert len(probe.texts) == N_TEXTS
    # `check_opens` runs the lines in another process, to which each library is new.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {**os.environ})
    folder = tmp_path / FOLDER if format == "transformers" else tmp_path
    write_files(dumps(tokenizer, format), folder)
    lines = find_reader(format).lines(tokenizer)
    found = run_lines(lines.load, lines.encode, list(probe.texts), tmp_path)
    assert compare_ids(tokenizer, probe, found) == (probe.n_tokens, None)
