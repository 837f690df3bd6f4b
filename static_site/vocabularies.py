"""The published tokenizers that the site encodes with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bpe_core import Tokenizer, open_encoder


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer that the site encodes with."""

    id: str
    name: str
    code: str
    """The Python line that makes the same tokenizer."""
    size: str = ""
    """What a visitor loads who chooses it, unless it comes with the first page."""

    def open(self) -> Tokenizer:
        """Return the tokenizer; raises UnavailableError if its file has not been fetched."""
        found = open_encoder(self.id).encoder
        assert isinstance(found, Tokenizer)  # bpe_core runs all of them
        return found


VOCABULARIES: Final = (
    Vocabulary("gpt2", "GPT-2", "tokenizer = bpe.gpt2()"),
    Vocabulary("o200k_base", "GPT-4o", 'tokenizer = bpe.open_encoder("o200k_base")', "1 MB"),
    Vocabulary("cl100k_base", "GPT-4", 'tokenizer = bpe.open_encoder("cl100k_base")', "0.5 MB"),
    Vocabulary("qwen3", "Qwen 3", 'tokenizer = bpe.open_encoder("qwen3")', "0.7 MB"),
)
