"""Guess the encoding of a text in Latin letters by the alphabets of the languages that use it.

Encodings such as cp1252 and cp1250 give nearly every byte a letter, so a wrong one still decodes.
But it then yields letters that no single language has together: `Pøíliš žluký` is not in any.
"""

from __future__ import annotations

from typing import Final

import regex

# The letters beyond ASCII of each language, in the order in which the encodings are tried.
_ALPHABETS: Final = {
    "cp1252": (
        "äöüß",
        "àâæçéèêëîïôœùûüÿ",
        "áéíñóúüªº",
        "áàâãçéêíóôõúüªº",
        "àèéìíîòóùúªº",
        "åäöéàü",
        "æøåéèêóòô",
        "áðéíóúýþæö",
        "ëïéèêüöáóí",
        "àçèéíïòóúü·ñªº",
        "áéíóú",
        # English: names and loanwords.
        "éèêëïîôñçöüàâäáíóúåæø",
    ),
    "cp1250": (
        "ąćęłńóśźż",
        "áčďéěíňóřšťúůýž",
        "áäčďéíĺľňóôŕšťúýž",
        "áéíóöőúüű",
        "ăâîşţ",
        "čćđšž",
    ),
    "cp1254": ("çğıiöşüâîû",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
}
# Typography that all of these encodings have, and cp1252 first.
_PUNCTUATION: Final = frozenset("‘’‚“”„–—…•«»‹›¿¡§©®°™€£·×\xa0\xad½¼¾²³†‡µ¶´¢¥‰")
_MIN_COVERED: Final = 0.97
_ASCII_LETTER: Final = regex.compile(rb"[A-Za-z]")
_HIGH_BYTE: Final = regex.compile(rb"[\x80-\xff]")
# A letter, or a symbol within a word or before one, as in `³ódŸ`: it stands for a letter.
_LETTER_OR_SYMBOL: Final = regex.compile(
    r"[\p{L}--[A-Za-z]]|(?<=\p{L})[^\p{L}\p{M}\x00-\x7f’‘\xad·–—](?=\p{L})"
    r"|[\p{So}\p{Sc}\p{Sk}¹²³¼½¾](?=\p{L})",
    regex.VERSION1,
)


def latin_guess(data: bytes) -> str | None:
    """Return the encoding in which a text has the letters of one language, or None.

    Western encodings come first if several fit. None also stands for text in other scripts.

    >>> latin_guess("déjà vu à la plage".encode("cp1252"))
    'cp1252'
    >>> latin_guess("zażółć gęślą jaźń".encode("cp1250"))
    'cp1250'
    """
    if len(_HIGH_BYTE.findall(data)) > 2 * len(_ASCII_LETTER.findall(data)):
        return None
    best, covered_best = None, 0.0
    for encoding, alphabets in _ALPHABETS.items():
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        covered = _most_covered(text, alphabets)
        if covered > covered_best:
            best, covered_best = encoding, covered
    return best if covered_best >= _MIN_COVERED else None


def _most_covered(text: str, alphabets: tuple[str, ...]) -> float:
    """Return the share of letters beyond ASCII that one alphabet has, for the best of them."""
    letters = _LETTER_OR_SYMBOL.findall(text)
    if not letters:
        beyond_ascii = [character for character in text if not character.isascii()]
        return sum(c in _PUNCTUATION for c in beyond_ascii) / (len(beyond_ascii) or 1)
    return max(
        sum(letter.lower() in alphabet for letter in letters) for alphabet in alphabets
    ) / len(letters)
