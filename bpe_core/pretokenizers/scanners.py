"""The tables of the compiled scanners: the number of each pattern, and each character's class."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.unicode.classes import CLASSES, class_runs

# Importing the kernels is slow, so their numbers are repeated here; a test compares both lists.
SCANNERS: Final = MappingProxyType(
    {"gpt2": 0, "cl100k": 1, "o200k": 2, "whitespace": 3, "words-punctuation": 4}
)
"""The number of each pre-tokenizer that has a compiled scanner; others use the `regex` package."""

# The two lowest bits are the classes in GPT-2's pattern, the others are marks and case.
_EITHER_CASE: Final = 8 | 16
_BITS: Final = MappingProxyType(
    {
        "other": 0,
        "space": 1,
        "upper": 2 | 16,
        "lower": 2 | 8,
        "modifier": 2 | _EITHER_CASE,
        "letter": 2 | _EITHER_CASE,
        "number": 3,
        "mark": 4 | _EITHER_CASE,
    }
)


@cache
def class_table() -> NDArray[np.uint8]:
    """Return the class bits of each code point for `kernels.scanning`, uint8[0x110000].

    >>> table = class_table()
    >>> [int(table[ord(c)]) & 3 for c in ". a1"]
    [0, 1, 2, 3]
    """
    starts, classes = class_runs()
    bits = np.array([_BITS[name] for name in CLASSES], np.uint8)
    lengths = np.diff(np.array([*starts, 0x110000]))
    table = np.repeat(bits[np.frombuffer(classes, np.uint8)], lengths)
    table.flags.writeable = False
    return table
