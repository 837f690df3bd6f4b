"""Find the script of a token: the one rule for every figure that counts tokens by script."""

from __future__ import annotations

from collections import Counter
from typing import Final

from bpe_core.unicode.kinds import OTHER_SCRIPT, find_script, is_letter
from bpe_core.unicode.utf8_states import are_whole_characters

CUT_CHARACTERS: Final = "Cut characters"
NO_LETTERS: Final = "No letters"


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
