"""The tokenizers of others, built offline from GPT-2's own files, to be compared with."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import tiktoken
from tokenizers import ByteLevelBPETokenizer

from bpe_core.tokenizer.gpt2 import END_OF_TEXT, data_folder, gpt2
from bpe_core.unicode.byte_alphabet import from_printable

# tiktoken_ext/openai_public.py, r50k_pat_str
GPT2_PATTERN = (
    r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
)

RANKS = Path(__file__).parents[1] / ".venv" / "tiktoken-cache"
"""Where scripts/get_ranks.sh puts OpenAI's own rank files."""


@cache
def tiktoken_gpt2() -> tiktoken.Encoding:
    """tiktoken with GPT-2's vocabulary as encoder.json gives it, read without this package's."""
    gpt2()  # checks the files
    by_text = json.loads((data_folder() / "encoder.json").read_text(encoding="utf-8"))
    end_of_text = by_text.pop(END_OF_TEXT)
    return tiktoken.Encoding(
        "gpt2",
        pat_str=GPT2_PATTERN,
        mergeable_ranks={from_printable(token): id for token, id in by_text.items()},
        special_tokens={END_OF_TEXT: end_of_text},
        explicit_n_vocab=50257,
    )


@cache
def tokenizers_gpt2() -> ByteLevelBPETokenizer:
    """Hugging Face's tokenizers with GPT-2's two files."""
    gpt2()
    folder = data_folder()
    return ByteLevelBPETokenizer(str(folder / "encoder.json"), str(folder / "vocab.bpe"))


@cache
def tiktoken_published(name: str) -> tiktoken.Encoding:
    """tiktoken's own cl100k_base or o200k_base, from the files that scripts/get_ranks.sh brings."""
    assert RANKS.is_dir(), f"{RANKS} is missing: run scripts/get_ranks.sh"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(RANKS))
        return tiktoken.get_encoding(name)
