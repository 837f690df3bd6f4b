"""What encoders are compared with: other libraries' tokenizers, and merging without any cut."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from tokenizers import ByteLevelBPETokenizer

from bpe_core.formats import open_encoder
from bpe_core.tokenizer import (
    END_OF_TEXT,
    NamedEncoder,
    Tokenizer,
    data_folder,
    gpt2,
    merge_symbols,
)
from bpe_core.unicode import META, from_printable

# tiktoken_ext/openai_public.py, r50k_pat_str
GPT2_PATTERN = (
    r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
)

RANKS = Path(__file__).parents[1] / ".venv" / "tiktoken-cache"
"""The folder to which scripts/get_ranks.sh downloads OpenAI's rank files."""


TOKENIZERS = Path(__file__).parents[1] / ".venv" / "tokenizers"
"""The folder to which scripts/get_tokenizers.py fetches the published tokenizers."""


@cache
def tiktoken_gpt2() -> tiktoken.Encoding:
    """Return tiktoken with GPT-2's vocabulary from encoder.json, read without this package."""
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
    """Return Hugging Face's tokenizer for GPT-2's two files."""
    gpt2()
    folder = data_folder()
    return ByteLevelBPETokenizer(str(folder / "encoder.json"), str(folder / "vocab.bpe"))


@cache
def opened_by_name(name: str) -> NamedEncoder:
    """Return a published tokenizer as bpe_core opens it, from the files that tests fetch."""
    assert TOKENIZERS.is_dir(), f"{TOKENIZERS} is missing. Run make ranks."
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_EXPLORER_TOKENIZERS", str(TOKENIZERS))
        return open_encoder(name)


@cache
def tiktoken_published(name: str) -> tiktoken.Encoding:
    """Return tiktoken's cl100k_base or o200k_base, from the files of scripts/get_ranks.sh."""
    assert RANKS.is_dir(), f"{RANKS} is missing. Run scripts/get_ranks.sh."
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(RANKS))
        return tiktoken.get_encoding(name)


def one_at_a_time(*openers: Any) -> Any:
    """Return a fixture for the parameter `name`, after which what was opened by it is closed.

    Pytest runs all tests of a module with one name before those with the next, if the lists of
    names begin alike. `openers` are cached functions.
    """

    @pytest.fixture(scope="module")
    def name(request: pytest.FixtureRequest) -> Iterator[str]:
        yield request.param
        for opener in openers:
            opener.cache_clear()

    return name


def merge_whole(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encode a text without added tokens as its file says: merge all of it, without any cut."""
    table = tokenizer.table
    (piece,) = table.pieces(tokenizer.normalized(text).replace(META, " ")) or [([], b"")]
    return merge_symbols(piece[0] or [], table.ranks, table.made)
