"""Number the scripts of many characters at once; the names are those of `kinds.find_group`."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.unicode.kinds import SCRIPT_NAMES, find_group, find_script, is_letter

NO_LETTER: Final = 0
OTHER_LETTER: Final = 1
SHARED_LETTER: Final = 254
"""A letter or mark that several scripts share, such as a combining accent."""
_UNKNOWN: Final = 255
SCRIPT_GROUPS: Final[tuple[str, ...]] = (
    "no letters",
    "other letters",
    *("Han characters" if name == "Han" else f"{name} letters" for name in SCRIPT_NAMES),
)
"""The name of each code but `SHARED_LETTER`."""
_CODES: Final = {name: code for code, name in enumerate(SCRIPT_GROUPS)}


def script_codes(points: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return the script of each code point as an index in SCRIPT_GROUPS, uint8[n_characters].

    Everything but letters and marks is NO_LETTER.

    >>> from bpe_core.unicode.kinds import code_points
    >>> [SCRIPT_GROUPS[code] for code in script_codes(code_points("ж漢!"))]
    ['Cyrillic letters', 'Han characters', 'no letters']
    >>> script_codes(code_points("ー")).tolist() == [SHARED_LETTER]
    True
    """
    table = _table()
    codes = table[points]
    missing = codes == _UNKNOWN
    if missing.any():
        for point in np.unique(points[missing]).tolist():
            table[point] = _find_code(chr(point))
        codes = table[points]
    return codes


def _find_code(character: str) -> int:
    if not is_letter(character):
        return NO_LETTER
    return SHARED_LETTER if find_script(character) is None else _CODES[find_group(character)]


@cache
def _table() -> NDArray[np.uint8]:
    """Return the codes of all code points, filled in on first use; all threads write the same."""
    return np.full(0x110000, _UNKNOWN, np.uint8)
