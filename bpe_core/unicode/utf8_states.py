"""The states of a UTF-8 decoder between bytes: which bytes may follow which.

Source: the table of well-formed byte sequences, table 3-7 of the Unicode Standard.
"""

from __future__ import annotations

from typing import Final

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
