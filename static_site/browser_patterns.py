r"""Write the patterns of pre-tokenizers for JavaScript.

A browser's own `\p{L}` and `\s` depend on its version of Unicode, and JavaScript's `\s` is not
`regex`'s. So every class is written out as ranges, from the same data that `bpe_core` cuts by.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from typing import Final

from bpe_core.errors import PatternError
from bpe_core.pretokenizers import NAMED
from bpe_core.unicode import CLASSES, LETTER_CLASSES, class_runs

_CLASS_NAMES: Final = {
    r"\s": ("space",),
    r"\p{L}": LETTER_CLASSES,
    # One class in the data, and no pattern names one without the other.
    r"\p{Lu}\p{Lt}": ("upper",),
    r"\p{Ll}": ("lower",),
    r"\p{Lm}": ("modifier",),
    r"\p{Lo}": ("letter",),
    r"\p{N}": ("number",),
    r"\p{M}": ("mark",),
}
_NAMED: Final = "|".join(map(re.escape, _CLASS_NAMES))
# All else is the same in JavaScript, except possessive quantifiers and other groups.
_PART: Final = re.compile(
    r"\(\?i:(?P<ignoring>[a-z'|]+)\)"
    rf"|(?P<named>{_NAMED})|(?P<not_space>\\S)"
    r"|(?P<kept>\(\?<?[:=!]|\\[rn]|(?![+*?}]\+)[^\\(]|\((?!\?))",
    re.DOTALL,
)


@cache
def browser_pattern(name: str) -> str:
    """Return the pattern of a named pre-tokenizer for JavaScript's flag `u`.

    Raises PatternError if the pattern has a part that this module cannot write.

    >>> browser_pattern("gpt2")[:40]
    "'(?:[sdmt]|ll|ve|re)| ?[A-Za-z\\\\u{aa}\\\\u{b"
    """
    pattern = NAMED[name].pattern or ""
    written: list[str] = []
    in_class = False
    at = 0
    while at < len(pattern):
        part = _PART.match(pattern, at)
        if part is None:
            raise PatternError(
                f"The pattern of {name!r} has {pattern[at : at + 12]!r}, which has no form for "
                "browsers here. Add it to static_site/browser_patterns.py."
            )
        written.append(_written(part, in_class=in_class))
        if part["kept"] in ("[", "]"):
            in_class = part["kept"] == "["
        at = part.end()
    return "".join(written)


def _written(part: re.Match[str], *, in_class: bool) -> str:
    if part["ignoring"]:
        return f"(?:{''.join(map(_either_case, part['ignoring']))})"
    if part["not_space"]:
        return f"[^{_ranges(('space',))}]"
    if part["named"]:
        ranges = _ranges(_CLASS_NAMES[part["named"]])
        return ranges if in_class else f"[{ranges}]"
    return part["kept"]


@cache
def _either_case(letter: str) -> str:
    """Return a class of all characters that are this letter regardless of case, such as ſ for s."""
    if not letter.isalpha():
        return letter
    same = [point for point in range(sys.maxunicode + 1) if chr(point).casefold() == letter]
    return f"[{''.join(map(_escaped, same))}]"


@cache
def _ranges(names: tuple[str, ...]) -> str:
    """Return the code points of some classes as the inside of a character class."""
    starts, classes = class_runs()
    wanted = {CLASSES.index(name) for name in names}
    ends = [*starts[1:], sys.maxunicode + 1]
    runs = [
        (start, end - 1)
        for start, end, kind in zip(starts, ends, classes, strict=True)
        if kind in wanted
    ]
    return inside_class(runs)


def inside_class(runs: Iterable[tuple[int, int]]) -> str:
    """Return runs of code points, each with its last one, as the inside of a character class.

    >>> inside_class([(97, 99), (100, 100), (233, 233)])
    'a-d\\\\u{e9}'
    """
    return "".join(
        _escaped(first) if first == last else f"{_escaped(first)}-{_escaped(last)}"
        for first, last in _joined(runs)
    )


def _joined(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in runs:
        if joined and joined[-1][1] + 1 == first:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def _escaped(code_point: int) -> str:
    character = chr(code_point)
    return character if character.isascii() and character.isalnum() else f"\\u{{{code_point:x}}}"
