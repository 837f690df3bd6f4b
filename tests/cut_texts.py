"""Texts rich in lookahead and lookbehind cases, and tokenizers that show how they are cut."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import bpe_core as bpe

TEXT = (
    "I'll, it's 12345 naïve\u3000 don'ſ 日本's  we've\r\n\n a'Re!?/\n \tÉT'LL\u0301 x² 🙂'd _b I'm"
)
"""Contractions, marks, numbers, wide white space: what a pattern looks ahead or back for."""

CONTRACTIONS = ["'s", "'t", "'d", "'m", "'ll", "'ve", "'re", "'S", "'LL", "'vE", "'ſ"]
ENDINGS = [
    *CONTRACTIONS,
    "'",
    "''",
    "'l",
    "'v",
    "'r",
    "'L",
    "'x",
    "' s",
    "''s",
    "'ss",
    "'lls",
    "'sſ",
    "'\u0301",
    " ",
    "  ",
    "\n",
    "\r\n",
    " \n",
    "\n ",
    "\t\t",
    "\u3000",
    " \u3000",
    "\u3000 ",
    "\u3000\u3000",
    "1",
    "1234",
    "²",
    "!",
    "!\n",
    "!/\n",
    " !",
    "é",
    "日",
    "🙂",
    "\u0301",
    "A",
    "Aa",
    "aA",
    " A",
]
BEFORE = ["", "a", "I", "É", "日", "1", "!", " ", "\n", "\u3000", "'", "it's", "x" * 40, " x" * 20]

ASCII_TEXT = TEXT.encode("ascii", "ignore").decode()
"""The text without its other characters, which is read in place instead of converted."""


@cache
def word_tokenizer(name: str) -> bpe.Tokenizer:
    """Return a tokenizer that encodes each pre-token of the texts here as one token."""
    texts = [TEXT, ASCII_TEXT, *(before + ending for before in BEFORE for ending in ENDINGS)]
    config = bpe.TrainingConfig(100_000, pretokenizer=name, special_tokens=("<s>", "<s>§"))
    if bpe.get_pretokenizer(name).adds_space:
        config = replace(config, base="characters", byte_fallback=True)
    return bpe.train(bpe.Corpus.from_documents(texts), config).tokenizer
