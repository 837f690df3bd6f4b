"""A vocabulary is written to GGUF and read back unchanged, or refused before it is written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.formats import dumps, loads, save
from bpe_core.formats.gguf.gguf_header import parse_gguf
from bpe_core.formats.gguf.gguf_vocabulary import KNOWN_CUTS, find_pre, write_gguf

SAMPLE = load_sample("multilingual")


def trained(pretokenizer: str, **choices: object) -> bpe.Tokenizer:
    config = bpe.TrainingConfig(700, pretokenizer=pretokenizer, special_tokens=("<s>", "</s>"))
    return bpe.train(SAMPLE, replace(config, **choices)).tokenizer


def looking_up_words(tokenizer: bpe.Tokenizer) -> bpe.Tokenizer:
    return bpe.Tokenizer(
        vocab=tokenizer.vocab,
        merges=[(each.left, each.right, each.id) for each in tokenizer.merges],
        pretokenizer=tokenizer.pretokenizer.name,
        special_tokens=tokenizer.special_tokens,
        whole_words_first=True,
    )


@pytest.mark.parametrize(
    ("name", "pre"),
    [
        ("gpt2", "gpt-2"),
        ("llama3", "dbrx"),
        ("qwen2", "qwen2"),
        ("o200k", "gpt-4o"),
        ("starcoder", "starcoder"),
        ("deepseek-v3", "deepseek-v3"),
    ],
)
def test_each_cut_that_has_a_name_is_read_back(name: str, pre: str) -> None:
    tokenizer = trained(name)
    assert find_pre(tokenizer) == pre
    assert pre in KNOWN_CUTS
    assert loads(dumps(tokenizer, "gguf")) == tokenizer


@pytest.mark.parametrize(("name", "pre"), [("llama3", "llama-bpe"), ("tekken", "tekken")])
def test_whole_words_first_has_names_of_its_own(name: str, pre: str) -> None:
    tokenizer = looking_up_words(trained(name))
    assert find_pre(tokenizer) == pre
    assert loads(dumps(tokenizer, "gguf")) == tokenizer


@pytest.mark.parametrize("whole", [False, True])
def test_a_refusal_lists_only_cuts_that_can_be_written(whole: bool) -> None:
    def tried(name: str) -> bpe.Tokenizer:
        return looking_up_words(trained(name)) if whole else trained(name)

    with pytest.raises(bpe.ConfigError, match="no name for") as refused:
        find_pre(tried("none"))
    (listed,) = re.findall(r": ([a-z0-9, -]+)\. Save", str(refused.value))
    names = listed.split(", ")
    assert {"llama3", "tekken" if whole else "o200k"} <= {*names}
    assert {find_pre(tried(name)) for name in names} <= {*KNOWN_CUTS}


def test_the_keys_name_the_ends_and_no_token_is_added_to_a_text() -> None:
    tokenizer = trained("gpt2")
    keys = parse_gguf(write_gguf(tokenizer))
    assert keys["tokenizer.ggml.bos_token_id"] == tokenizer.special_tokens["<s>"]
    assert keys["tokenizer.ggml.eos_token_id"] == tokenizer.special_tokens["</s>"]
    assert keys["tokenizer.ggml.add_bos_token"] is keys["tokenizer.ggml.add_eos_token"] is False


@pytest.mark.parametrize(
    ("tokenizer", "why"),
    [
        (trained("cl100k"), "'cl100k'"),
        (trained("falcon"), "'falcon'"),
        (trained("none"), "no name for the pre-tokenizer 'none'"),
        (trained(r"regex:\w+|\s"), "no name for the pre-tokenizer 'regex:"),
        (trained("tekken"), "'tekken' it looks up whole words before merging, .* only merges"),
        (looking_up_words(trained("o200k")), "'o200k' it only merges, .* looks up whole words"),
        (trained("gpt2", alphabet="seen"), "all 256 bytes"),
        (trained("gpt2", base="characters", vocab_size=1_500), "only byte tokens"),
        (bpe.gpt2().truncated(10), "none for id 266"),
    ],
)
def test_what_gguf_cannot_express_is_refused_and_nothing_is_written(
    tokenizer: bpe.Tokenizer, why: str, tmp_path: Path
) -> None:
    with pytest.raises(bpe.ConfigError, match=why):
        save(tokenizer, tmp_path / "vocabulary.gguf", format="gguf")
    assert not list(tmp_path.iterdir())
