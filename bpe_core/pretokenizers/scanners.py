"""What the compiled scanners need to know: which pattern is which, and each character's class."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.unicode.classes import CLASSES, class_runs

# Kernels can't be imported before they are wanted, so their numbers are written out here; a test
# holds both lists together.
SCANNERS: Final = MappingProxyType(
    {"gpt2": 0, "cl100k": 1, "o200k": 2, "whitespace": 3, "words-punctuation": 4}
)
"""The number of each pre-tokenizer that has a compiled scanner; others use the `regex` package."""

# The two lowest bits say what GPT-2's pattern tells apart, the others are marks and case.
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
    """uint8[0x110000]: the class bits of each code point, as `kernels.scanning` reads them.

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
