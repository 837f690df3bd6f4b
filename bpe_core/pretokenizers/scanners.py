"""The tables of the compiled scanners: each pattern's automaton, and each character's class."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import Scanner
from bpe_core.kernels import mask_scanning as rules
from bpe_core.kernels import space_scanning as spaces
from bpe_core.pretokenizers.automaton import compile_automaton
from bpe_core.pretokenizers.named_patterns import NAMED
from bpe_core.pretokenizers.shadows import OF_HAN_AND_KANA, REPRESENTATIVES, shadow_runs
from bpe_core.types import read_only
from bpe_core.unicode import LETTER_CLASSES

SCANNERS: Final = tuple(name for name, named in NAMED.items() if named.pattern is not None)
"""The pre-tokenizers that have a compiled scanner; others use the `regex` package."""

_ANY_OTHER: Final = "gpt2"
_LETTERS: Final = (*LETTER_CLASSES, "long s")
_KINDS: Final = {"space": 1, "number": 3, **dict.fromkeys(_LETTERS, 2)}

_OPENAI: Final = rules.SPACE_BEFORE_SIGNS | rules.ANY_BEFORE_LETTERS | rules.NEWLINES
_ANY_CASE: Final = rules.CONTRACTIONS | rules.CAPITAL_CONTRACTIONS
_CASES: Final = _OPENAI | rules.SLASHES | rules.CASES
_RULES: Final = {
    "gpt2": rules.SPACE_BEFORE_SIGNS | rules.SPACE_BEFORE_NUMBERS | rules.CONTRACTIONS,
    "cl100k": _OPENAI | _ANY_CASE | rules.THREE_DIGITS,
    "o200k": (
        _CASES | rules.CONTRACTIONS_AFTER_LETTERS | rules.CAPITAL_CONTRACTIONS | rules.THREE_DIGITS
    ),
    "llama3": _OPENAI | _ANY_CASE | rules.THREE_DIGITS,
    "qwen2": _OPENAI | _ANY_CASE | rules.ONE_DIGIT,
    "tekken": _CASES | rules.ONE_DIGIT,
    "deepseek-v3": _OPENAI | rules.THREE_DIGITS | rules.WHOLE_BEFORE_NUMBERS,
    "starcoder": (
        rules.SPACE_BEFORE_SIGNS | rules.CONTRACTIONS | rules.ONE_DIGIT | rules.WHOLE_BEFORE_NUMBERS
    ),
    "falcon": rules.THREE_DIGITS | rules.WHOLE_BEFORE_SIGNS,
    "whitespace": rules.WORDS_OF_ANYTHING,
    "words-punctuation": rules.WORDS,
    "sentencepiece": spaces.BEFORE_SPACES,
    "gemma3": spaces.BEFORE_SPACES | spaces.NOT_AFTER_GREATER,
    "llama2": spaces.BEFORE_SPACES,
    "metaspace": spaces.BEFORE_SPACES | spaces.EACH_SPACE,
}

_ONLY_ASCII_ALIKE: Final = {"deepseek-v3"}
"""Patterns that name the letters of ASCII, and treat others differently."""


@cache
def get_scanner(name: str) -> Scanner:
    """Return the tables with which kernels cut by a pattern; those of GPT-2 for any other name.

    Compiling a pattern takes 10 to 40 ms.

    >>> get_scanner("o200k").flags.dtype
    dtype('uint8')
    """
    if name not in SCANNERS:
        return get_scanner(_ANY_OTHER)
    no_bytes = _read_only([], np.uint8)
    if _RULES[name] & spaces.BEFORE_SPACES:
        no_rows = _read_only([], np.int32)
        return Scanner(no_bytes, no_bytes, no_rows, no_bytes, _RULES[name], no_bytes)
    named = NAMED[name]
    automaton = compile_automaton(named.pattern or "", dropped=r"\s+" if named.drops_text else None)
    ascii_columns = [automaton.columns[chr(byte)] for byte in range(128)] + [0] * 128
    classes = [automaton.columns[character] for character in REPRESENTATIVES.values()]
    columns = [*ascii_columns, *classes, automaton.n_columns - 1]
    moves = [move for row in automaton.rows for move in row]
    return Scanner(
        class_table(),
        _read_only(columns, np.uint8),
        _read_only([state * automaton.n_columns for state, _ in moves], np.int32),
        _read_only([flags for _, flags in moves], np.uint8),
        _RULES[name] | (0 if name in _ONLY_ASCII_ALIKE else rules.WIDE_LETTERS),
        no_bytes,
    )


@cache
def class_table() -> NDArray[np.uint8]:
    """Return the class of each code point for `kernels.scanning`, uint8[0x110000].

    >>> table = class_table()
    >>> [int(table[ord(c)]) & 3 for c in ". a1"]
    [0, 1, 2, 3]
    """
    entries = {
        name: (number << 2) + _KINDS.get(name.removesuffix(OF_HAN_AND_KANA), 0)
        for number, name in enumerate(REPRESENTATIVES)
    }
    table = np.empty(0x110000, np.uint8)
    for start, end, name in shadow_runs():
        table[start:end] = entries[name]
    return read_only(table)


@cache
def space_table() -> NDArray[np.uint8]:
    """Return a table for patterns that cut only before U+0020: the others but > are letters.

    >>> table = space_table()
    >>> [int(table[ord(c)]) & 3 for c in " \\n>"]
    [1, 2, 0]
    """
    table = np.full(0x110000, _KINDS["lower"], np.uint8)
    table[[ord(" "), ord(">")]] = _KINDS["space"], 0
    return read_only(table)


def _read_only(values: list[int], dtype: type[np.generic]) -> NDArray[Any]:
    # Kernels are compiled per array type, so all calls pass read-only arrays.
    return read_only(np.array(values, dtype))
