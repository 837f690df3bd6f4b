"""The class of each character in Unicode 16.

GPT-2's pattern matches letters, numbers and white space, and each Unicode version adds some.
tiktoken 0.14 and tokenizers 0.23 use Unicode 16, but Python's `unicodedata` and the `regex` package
use other versions. So the classes are stored as data, which `scripts/make_unicode_classes.py`
writes and checks. Encoding with GPT-2 needs this module, so it imports neither NumPy nor `regex`.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from bisect import bisect_right
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final

CLASSES: Final = (
    "other",
    "space",
    "upper",
    "lower",
    "modifier",
    "letter",
    "number",
    "mark",
    "punctuation",
    "symbol",
)
"""The class names; upper is Lu and Lt, lower Ll, modifier Lm, letter Lo, number N, mark M,
punctuation P, symbol S."""

LETTER_CLASSES: Final = ("upper", "lower", "modifier", "letter")
DATA_FILE: Final = Path(__file__).parents[1] / "data" / "unicode_classes.bin"


@cache
def class_runs() -> tuple[list[int], bytes]:
    """Return the first code point of each run of one class, and each run's index in CLASSES."""
    packed = zlib.decompress(DATA_FILE.read_bytes())
    n_runs = int.from_bytes(packed[:4], "little")
    lengths = array("I", packed[4 : 4 + 4 * n_runs])
    if sys.byteorder == "big":
        lengths.byteswap()
    return list(accumulate(lengths, initial=0))[:-1], packed[4 + 4 * n_runs :]


def unicode_class(code_point: int) -> str:
    """Return the class of a code point in Unicode 16.

    >>> unicode_class(ord("é")), unicode_class(0x3000), unicode_class(0x1C)
    ('lower', 'space', 'other')
    """
    starts, classes = class_runs()
    return CLASSES[classes[bisect_right(starts, code_point) - 1]]
