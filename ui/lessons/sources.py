"""Name the texts that the lessons retell."""

from __future__ import annotations

from typing import Final

MODULE: Final = "“Tokenization & Vocabulary. Tries, Hash Maps, BPE from Scratch”, a teaching module"
NOTEBOOK: Final = "“Building a Byte Pair Encoding (BPE) Tokenizer from scratch”, a notebook"
COURSE_NOTEBOOK: Final = (
    "“Byte-Pair Encoding tokenization”, a notebook after chapter 6 of the Hugging Face course"
)
