"""Write the vocabularies of published tokenizers for the browser."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from bpe_core import Tokenizer, open_encoder
from static_site.browser_patterns import browser_pattern


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer that the site encodes with."""

    id: str
    name: str
    pattern: str
    """The name of its pre-tokenizer."""
    code: str
    """The Python line that makes the same tokenizer."""

    def open(self) -> Tokenizer:
        """Return the tokenizer; raises UnavailableError if its file has not been fetched."""
        found = open_encoder(self.id).plain
        assert found is not None  # bpe_core runs both
        return found


VOCABULARIES: Final = (
    Vocabulary("gpt2", "GPT-2", "gpt2", "tokenizer = bpe.gpt2()"),
    Vocabulary("o200k_base", "GPT-4o", "o200k", 'tokenizer = bpe.open_encoder("o200k_base")'),
)


def stored_vocabulary(vocabulary: Vocabulary) -> bytes:
    """Return a vocabulary as `browser/vocabulary.js` reads it.

    A JSON header, preceded by its length as uint32, little-endian; then the length of each token by
    id, one byte each, 0 for a special token or none; then the bytes of all tokens.
    """
    encoder = vocabulary.open()
    special = set(encoder.special_tokens.values())
    tokens = [
        b"" if id in special else encoder.vocab.get(id, b"") for id in range(max(encoder.vocab) + 1)
    ]
    header = json.dumps(
        {
            "name": vocabulary.name,
            "pattern": browser_pattern(vocabulary.pattern),
            "special": list(encoder.special_tokens),
            "n_ids": len(tokens),
        }
    ).encode()
    lengths = bytes(map(len, tokens))
    return len(header).to_bytes(4, "little") + header + lengths + b"".join(tokens)
