"""What a character is: its kind (word, white space, or neither), its script and its length.

Kinds and letters follow the classes of `classes`, so words are the same as for the pre-tokenizers.
Scripts and punctuation come from the `regex` package. `token_script` is the one rule for every
figure that counts tokens by script.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, cached_property, lru_cache
from typing import Any, Final

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_core.unicode.byte_tables import are_whole_characters
from bpe_core.unicode.classes import CLASSES, LETTER_CLASSES, class_runs, unicode_class

_WORD, _OTHER, _WHITE_SPACE = 1, 2, 3
# A pattern has to name each script; they are tried in this order. Scripts not listed here count as
# "other letters".
_SCRIPTS = """
    Latin Cyrillic Greek Han Hiragana Katakana Hangul Arabic Hebrew Devanagari Bengali Thai Tamil
    Telugu Gujarati Gurmukhi Kannada Malayalam Oriya Sinhala Georgian Armenian Ethiopic Khmer Lao
    Myanmar Tibetan Mongolian Bopomofo Braille Canadian_Aboriginal Cherokee Coptic Gothic Javanese
    Balinese Sundanese Nko Ogham Runic Syriac Thaana Tifinagh Vai Yi Glagolitic Cuneiform
    Egyptian_Hieroglyphs Linear_B Phoenician Old_Italic Deseret Osage Adlam Hanifi_Rohingya
    Meetei_Mayek Ol_Chiki Chakma Cham New_Tai_Lue Tai_Le Tai_Tham Limbu Lepcha Tagalog
"""
_SCRIPT = regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in _SCRIPTS.split()))
SCRIPT_NAMES: Final = tuple(name.replace("_", " ") for name in _SCRIPTS.split())
"""The scripts that have a name here; `find_script` returns `OTHER_SCRIPT` for all others."""
_SHARED = regex.compile(r"[\p{Script=Common}\p{Script=Inherited}]")
OTHER_SCRIPT: Final = "other"
_LETTERS_AND_MARKS = frozenset({*LETTER_CLASSES, "mark"})
# The category So is left out: emoji and other pictures are not punctuation.
_PUNCTUATION = regex.compile(r"[\p{P}\p{S}--\p{So}]", regex.V1)
_N_CODE_POINTS = 0x110000
_NO_WORD = ("other", "punctuation", "symbol")
_KIND_OF_CLASS = {"space": _WHITE_SPACE, **dict.fromkeys(_NO_WORD, _OTHER)}
CUT_CHARACTERS: Final = "Cut characters"
NO_LETTERS: Final = "No letters"
TOKEN_SCRIPTS: Final = (*SCRIPT_NAMES, OTHER_SCRIPT, NO_LETTERS, CUT_CHARACTERS)
"""The names that `token_script` returns."""
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


@lru_cache(maxsize=65_536)
def find_script(character: str) -> str | None:
    """Return the script of a letter or mark.

    None for anything else, and for letters and marks that several scripts share, such as the
    prolonged sound mark of Katakana and Hiragana or a combining accent.

    >>> find_script("ж"), find_script("漢"), find_script("ー"), find_script("!")
    ('Cyrillic', 'Han', None, None)
    """
    if not is_letter(character):
        return None
    match = _SCRIPT.match(character)
    if match and match.lastgroup:
        return match.lastgroup.replace("_", " ")
    return None if _SHARED.match(character) else OTHER_SCRIPT


def forget_characters() -> None:
    """Forget the characters looked up so far, to free memory."""
    find_script.cache_clear()
    find_group.cache_clear()


def is_letter(character: str) -> bool:
    """Return True for a letter or a mark.

    >>> is_letter("ー"), is_letter("7")
    (True, False)
    """
    return unicode_class(ord(character)) in _LETTERS_AND_MARKS


@lru_cache(maxsize=65_536)
def find_group(character: str) -> str:
    """Return the group of a character in a summary of a text by scripts.

    >>> find_group("ж"), find_group("漢"), find_group("ー"), find_group("!"), find_group("7")
    ('Cyrillic letters', 'Han characters', 'other letters', 'punctuation', 'digits and other')
    """
    script = find_script(character)
    if script == "Han":
        return "Han characters"
    if is_letter(character):
        return f"{script or OTHER_SCRIPT} letters"
    if unicode_class(ord(character)) == "space":
        return "white space"
    return "punctuation" if _PUNCTUATION.match(character) else "digits and other"


class CodePoints:
    """The characters of a text without lone surrogates, in arrays that are made when asked for.

    >>> found = CodePoints("aé 7!")
    >>> found.points.tolist(), found.offsets.tolist()
    ([97, 233, 32, 55, 33], [0, 1, 3, 4, 5, 6])
    >>> found.kinds.tolist() == [found.WORD, found.WORD, found.SPACE, found.WORD, found.OTHER]
    True
    """

    WORD: Final = _WORD
    """The kind of letters, marks and numbers."""
    OTHER: Final = _OTHER
    """The kind of punctuation, and also of symbols, emoji and control characters."""
    SPACE: Final = _WHITE_SPACE
    """The kind of white space."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def points(self) -> NDArray[np.uint32]:
        """The code points, uint32[n]."""
        return np.frombuffer(self._text.encode("utf-32-le"), np.uint32)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Each character's UTF-8 offset, then the text's length, int64[n + 1]."""
        if self._text.isascii():
            return np.arange(len(self._text) + 1, dtype=np.int64)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(_utf8_lengths(self.points))])

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """WORD, OTHER or SPACE, uint8[n]."""
        return _kind_table()[self.points]

    @cached_property
    def are_numbers(self) -> NDArray[np.bool_]:
        """True for each number, bool[n].

        >>> CodePoints("a1Ⅷ!").are_numbers.tolist()
        [False, True, True, False]
        """
        return _number_table()[self.points]

    @cached_property
    def scripts(self) -> NDArray[np.uint8]:
        """The script of each as an index in SCRIPT_GROUPS, uint8[n]; of others NO_LETTER.

        >>> [SCRIPT_GROUPS[code] for code in CodePoints("ж漢!").scripts]
        ['Cyrillic letters', 'Han characters', 'no letters']
        >>> CodePoints("ー").scripts.tolist() == [SHARED_LETTER]
        True
        """
        table = _code_table()
        codes = table[self.points]
        missing = codes == _UNKNOWN
        if missing.any():
            for point in np.unique(self.points[missing]).tolist():
                table[point] = _find_code(chr(point))
            codes = table[self.points]
        return codes


def _utf8_lengths(points: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return how many bytes of UTF-8 each code point takes, int64[n_characters]."""
    lengths = np.ones(len(points), np.int64)
    for first in (0x80, 0x800, 0x10000):
        lengths += points >= first
    return lengths


@cache
def _kind_table() -> NDArray[np.uint8]:
    """Return the kind of every code point, uint8[0x110000]."""
    return _table(np.array([_KIND_OF_CLASS.get(name, _WORD) for name in CLASSES], np.uint8))


@cache
def _number_table() -> NDArray[np.bool_]:
    """Return whether each code point is a number, bool[0x110000]."""
    return _table(np.array([name == "number" for name in CLASSES]))


def _table(of_class: NDArray[Any]) -> NDArray[Any]:
    """Spread one value per class to all code points."""
    starts, classes = class_runs()
    lengths = np.diff(np.array([*starts, _N_CODE_POINTS]))
    return np.repeat(of_class[np.frombuffer(classes, np.uint8)], lengths)


def token_script(token: bytes) -> str:
    """Return the script of most of a token's letters and marks; in a tie, the first.

    Letters that several scripts share, such as the prolonged sound mark of Katakana and Hiragana,
    count with the other letters of their token; if there are none, the script is "other". A token
    without a letter is `CUT_CHARACTERS` if it cuts a character, and `NO_LETTERS` otherwise.

    >>> [token_script(text.encode()) for text in (" the", "ター", "ｺｰﾋｰ", "カの", "ー", "7!")]
    ['Latin', 'Katakana', 'Katakana', 'Katakana', 'other', 'No letters']
    >>> token_script("漢".encode()[:2])
    'Cut characters'
    """
    text = token.decode(errors="ignore")
    # A shortcut for most tokens: looking up the script of each letter takes eight times as long.
    if text.isascii() and any(map(str.isalpha, text)):
        return "Latin"
    scripts = Counter(filter(None, map(find_script, text)))
    if scripts:
        return scripts.most_common(1)[0][0]
    if any(map(is_letter, text)):
        return OTHER_SCRIPT
    return NO_LETTERS if are_whole_characters(token) else CUT_CHARACTERS


def _find_code(character: str) -> int:
    if not is_letter(character):
        return NO_LETTER
    return SHARED_LETTER if find_script(character) is None else _CODES[find_group(character)]


@cache
def _code_table() -> NDArray[np.uint8]:
    """Return the codes of all code points, filled in on first use; all threads write the same."""
    return np.full(0x110000, _UNKNOWN, np.uint8)
