"""Real files, opened from what was kept, give the ids of the first opening on hostile texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.tokenizer.tables import StoredTable
from tests.differential.test_across_words import hostile_texts
from tests.more_cases import first_of
from tests.oracles import TOKENIZERS

FILES = (
    "claude-2.json",
    "deepseek-v3.tokenizer.json",
    "gemini.json",
    "gemma.gguf",
    "gemma3.json",
    "llama2.json",
    "llama3.1.json",
    "llama3.tiktoken",
    "mistral-7b.model",
    "mistral-nemo.json",
    "qwen3.json",
    "starcoder.gguf",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of(FILES, "llama2.json", "qwen3.json"))
def test_a_second_opening_encodes_as_the_first(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second = (bpe.open_encoder(TOKENIZERS / name) for _ in range(2))
    own = second.encoder
    merges = own
    assert isinstance(merges, bpe.Tokenizer)
    assert isinstance(merges.table, StoredTable)
    assert (first.provenance, first.special_tokens) == (second.provenance, second.special_tokens)
    texts = list(hostile_texts(300, seed=7))
    for text in [*texts, " ".join(texts)]:
        assert first.encode(text) == second.encode(text)
        assert first.encode(text, "all") == second.encode(text, "all")
    assert first.vocab == second.vocab
