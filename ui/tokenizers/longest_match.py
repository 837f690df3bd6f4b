"""Find the words that longest match cuts differently from BPE, and cache them."""

from __future__ import annotations

from bpe_core.lab.contenders import Differences, differences
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.host.sized_cache import cached


@cached(spinner="Comparing longest match with the merges")
def longest_match_differences(text: str, fingerprint: str, _tokenizer: Tokenizer) -> Differences:
    """Return the words on which longest match differs; cached by text and tokenizer."""
    return differences(_tokenizer, text)
