"""llama.cpp's names for the cuts of tokenizers, and the text on which none fits."""

from __future__ import annotations

import json

import pytest
import tokenizers

import bpe_core as bpe
from bpe_core.formats import ForeignTokenizer, dumps, llama_cpp_cut
from bpe_core.formats.gguf.gguf_cuts import FAMILIES
from bpe_core.formats.gguf.gguf_file import find_pre
from bpe_core.formats.running.run_by_tiktoken import TiktokenTokenizer
from tests.foreign_models import word_piece


def trained(pretokenizer: str) -> bpe.Tokenizer:
    return bpe.train(["hug hugs"], vocab_size=258, pretokenizer=pretokenizer).tokenizer


def foreign(**changes: object) -> ForeignTokenizer:
    described = json.loads(dumps(bpe.gpt2().truncated(1_000), "huggingface")["tokenizer.json"])
    model = {**described["model"], "ignore_merges": changes.pop("ignore_merges", False)}
    return ForeignTokenizer(json.dumps(described | changes | {"model": model}))


@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_the_cut_of_each_name_is_found_and_no_other(number: int) -> None:
    names, steps, _, whole_words_first = FAMILIES[number]
    part = {"type": "Sequence", "pretokenizers": steps}
    found = llama_cpp_cut(foreign(pre_tokenizer=part, ignore_merges=whole_words_first))
    assert found.names == names


@pytest.mark.parametrize("name", ["gpt2", "starcoder", "llama3", "qwen2", "o200k", "deepseek-v3"])
def test_a_tokenizer_of_ours_has_the_name_that_its_file_gets(name: str) -> None:
    tokenizer = trained(name)
    assert find_pre(tokenizer) in llama_cpp_cut(tokenizer).names


def test_a_cut_without_a_name_is_shown_at_the_first_text_that_no_name_cuts_so() -> None:
    found = llama_cpp_cut(trained("cl100k"))
    assert (found.names, found.nearest) == ((), "llama-bpe")
    assert found.pieces != found.nearest_pieces
    assert found.sentence.startswith(
        f"llama.cpp has no name for this cut. The nearest is llama-bpe, which cuts {found.text!r}"
    )
    dropping = llama_cpp_cut(trained("whitespace"))
    assert dropping.names == ()
    assert (dropping.pieces, dropping.nearest_pieces) == (("fox,",), ("fox", ","))


def test_a_cut_whose_merges_are_used_otherwise_has_no_name() -> None:
    found = llama_cpp_cut(trained("tekken"))
    assert (found.names, found.nearest, found.text) == ((), "tekken", "")
    assert found.sentence.endswith("whether whole pre-tokens are looked up before they are merged.")


def test_a_pattern_that_tiktoken_runs_is_compared_too() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    pattern = bpe.get_pretokenizer("llama3").pattern
    assert pattern is not None
    assert "llama-bpe" in llama_cpp_cut(TiktokenTokenizer(ranks, pattern, {})).names
    assert llama_cpp_cut(TiktokenTokenizer(ranks, r"\S+|\s+", {})).names == ()


def test_only_byte_level_bpe_has_a_cut_to_name() -> None:
    unigram = tokenizers.models.Unigram([("<unk>", 0.0), ("a", -1.0)], 0)
    fallback = tokenizers.models.BPE({"a": 0, "<0x41>": 1}, [], byte_fallback=True)
    for model in (unigram, fallback):
        with pytest.raises(bpe.ConfigError, match="Only byte-level BPE needs a name for its cut"):
            llama_cpp_cut(ForeignTokenizer(tokenizers.Tokenizer(model).to_str()))
    with pytest.raises(bpe.ConfigError, match="Only byte-level BPE"):
        llama_cpp_cut(ForeignTokenizer(word_piece().to_str()))


def test_byte_level_bpe_that_is_not_cut_has_no_name() -> None:
    by_bytes = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    found = llama_cpp_cut(foreign(pre_tokenizer={**by_bytes, "trim_offsets": True}))
    assert found.names == ()
    uncut = llama_cpp_cut(foreign(pre_tokenizer=None, normalizer={"type": "ByteLevel"}))
    assert uncut.pieces == (uncut.text,)
