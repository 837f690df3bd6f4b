"""What a byte is: GPT-2's printable character for it, and its place in UTF-8.

GPT-2 writes its vocabulary as text, so each byte needs a character that prints: the 188 bytes
that print in Latin-1 represent themselves, and the other 68 use the characters from U+0100 on.
Sorting all 256 by their character gives the order in which both GPT-2 and Hugging Face's trainer
number the base tokens: `!` is 0, the space (written `Ġ`) is 220.

The states of a UTF-8 decoder between bytes say which bytes may follow which.

Sources: `bytes_to_unicode` in OpenAI's GPT-2 release, `encoder.py`, and the table of well-formed
byte sequences, table 3-7 of the Unicode Standard.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

META = "▁"
"""What SentencePiece's family, which has no such table, writes for a space."""

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))

BYTE_ORDER: tuple[int, ...] = (*_PRINTABLE, *(b for b in range(256) if b not in _PRINTABLE))
"""The 256 bytes in the order of their base ids: BYTE_ORDER[0] is 0x21, the exclamation mark."""

BYTE_TO_CHARACTER: tuple[str, ...] = tuple(
    chr(byte if byte in _PRINTABLE else 0x100 + BYTE_ORDER.index(byte) - len(_PRINTABLE))
    for byte in range(256)
)
"""BYTE_TO_CHARACTER[byte] is the printable character for that byte."""

CHARACTER_TO_BYTE: dict[str, int] = {c: byte for byte, c in enumerate(BYTE_TO_CHARACTER)}


# Characters that represent no byte are written as one that Latin-1 lacks.
_TO_LATIN_1 = {
    **{
        character: "\ufffd" for character in range(0x100) if chr(character) not in CHARACTER_TO_BYTE
    },
    **{ord(character): chr(byte) for character, byte in CHARACTER_TO_BYTE.items()},
}

BETWEEN_CHARACTERS: Final = 0
NO_STATE: Final = -1
_LEFT_1, _LEFT_2, _LEFT_3, _AFTER_E0, _AFTER_ED, _AFTER_F0, _AFTER_F4 = range(1, 8)
N_STATES: Final = 8
AFTER_WORD: Final = 0xFF
"""The byte that separates words in one array; it never occurs in UTF-8."""
_STEPS: Final = (
    (BETWEEN_CHARACTERS, 0x00, 0x7F, BETWEEN_CHARACTERS),
    (BETWEEN_CHARACTERS, 0xC2, 0xDF, _LEFT_1),
    (BETWEEN_CHARACTERS, 0xE0, 0xE0, _AFTER_E0),
    (BETWEEN_CHARACTERS, 0xE1, 0xEC, _LEFT_2),
    (BETWEEN_CHARACTERS, 0xED, 0xED, _AFTER_ED),
    (BETWEEN_CHARACTERS, 0xEE, 0xEF, _LEFT_2),
    (BETWEEN_CHARACTERS, 0xF0, 0xF0, _AFTER_F0),
    (BETWEEN_CHARACTERS, 0xF1, 0xF3, _LEFT_3),
    (BETWEEN_CHARACTERS, 0xF4, 0xF4, _AFTER_F4),
    (_LEFT_1, 0x80, 0xBF, BETWEEN_CHARACTERS),
    (_LEFT_2, 0x80, 0xBF, _LEFT_1),
    (_LEFT_3, 0x80, 0xBF, _LEFT_2),
    (_AFTER_E0, 0xA0, 0xBF, _LEFT_1),
    (_AFTER_ED, 0x80, 0x9F, _LEFT_1),
    (_AFTER_F0, 0x90, 0xBF, _LEFT_2),
    (_AFTER_F4, 0x80, 0x8F, _LEFT_2),
)


def to_printable(token: bytes) -> str:
    """Write a token's bytes in GPT-2's printable characters.

    >>> to_printable(b" quick")
    'Ġquick'
    """
    # Latin-1 decodes each byte to the code point of its value, the index in the table.
    return token.decode("latin-1").translate(BYTE_TO_CHARACTER)


def from_printables(texts: Sequence[str]) -> list[bytes]:
    """Return the bytes of printable tokens, in a fifth of the time of one after another.

    Raises KeyError for a character that is not in the table.

    >>> from_printables(["Ġquick", "Ġfox"])
    [b' quick', b' fox']
    """
    letters = from_printable("".join(texts))
    ends = list(accumulate(map(len, texts)))
    return [*map(letters.__getitem__, map(slice, [0, *ends], ends))]


def from_printable(text: str) -> bytes:
    """Return the bytes of a printable token; raises KeyError for a character not in the table.

    >>> from_printable("Ġquick")
    b' quick'
    """
    try:
        return text.translate(_TO_LATIN_1).encode("latin-1")
    except UnicodeEncodeError as error:
        raise KeyError(text[error.start]) from None


def _table() -> tuple[tuple[int, ...], ...]:
    table = [[NO_STATE] * 256 for _ in range(N_STATES)]
    for state, first, last, following in _STEPS:
        table[state][first : last + 1] = [following] * (last + 1 - first)
    return tuple(map(tuple, table))


_FOLLOWING: Final = _table()


def state_after(data: bytes, state: int = BETWEEN_CHARACTERS) -> int:
    """Return the state after some bytes; NO_STATE if they are not valid there.

    >>> state_after("é".encode()), state_after(b"\\xc0"), state_after(b"a\\xc3") > 0
    (0, -1, True)
    """
    for byte in data:
        state = _FOLLOWING[state][byte]
        if state == NO_STATE:
            break
    return state


def are_whole_characters(data: bytes) -> bool:
    """Return True if bytes are valid UTF-8, without a character cut at either end.

    >>> are_whole_characters("é".encode()), are_whole_characters(b"\\xc3")
    (True, False)
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def list_entries(data: bytes) -> dict[int, int]:
    """Return each state in which these bytes are valid, with the state after them.

    >>> list_entries(b"a"), list_entries(b"\\xff")
    ({0: 0}, {})
    """
    # Whole characters are valid only between characters. Nearly all tokens are of this kind, and
    # decoding them takes a twentieth of the time.
    if data and are_whole_characters(data):
        return {BETWEEN_CHARACTERS: BETWEEN_CHARACTERS}
    after = {state: state_after(data, state) for state in range(N_STATES)}
    return {state: following for state, following in after.items() if following != NO_STATE}
