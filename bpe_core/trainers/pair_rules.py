"""Rules that forbid pairs by the bytes of their two tokens.

The kernels do not know the rules. Each token has a weight, and the kernels ask only about pairs
whose weights are together more than `heaviest`: those are judged here, one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import regex

from bpe_core.types import TrainingConfig

MAX_WORDS: Final = 4
"""The most words of a superword, as in SuperBPE's released tokenizers."""

_SUPERWORD: Final = regex.compile(r"[\p{L}\p{N}][^ \t\r\n]*[ \t\r\n]+[^ \t\r\n]*[\p{L}\p{N}]")
_PATTERN: Final = "regex:"
_COLON, _SPACE, _COLON_SPACE = b":", b" ", b": "
_ASKED: Final = MAX_WORDS + 1  # the weight of a token that is asked about in every pair


def count_words(token: bytes) -> int:
    """Return how many words a token has, or parts of words, with white space between them.

    >>> count_words(b" of the"), count_words(b"hug"), count_words(b" ")
    (2, 1, 0)
    """
    return len(token.split())


def is_superword(token: bytes) -> bool:
    r"""Return True for a token that joins words: white space between two letters or digits.

    Signs and a line break are one pre-token in some cuts, and so they make no superword.

    >>> is_superword(b" of the"), is_superword(b" the"), is_superword(b".\n/")
    (True, False, False)
    """
    return _SUPERWORD.search(token.decode(errors="ignore")) is not None


class PairRule:
    """What a training asks of its tokens besides their counts.

    `superwords`: at most `MAX_WORDS` words, and no colon before a space. `patterns` match tokens
    that are not made. `whole_characters`: a part of a character joins nothing but the rest of it.

    >>> rule = PairRule(superwords=True)
    >>> rule.forbids(b" by the way", b" it"), rule.forbids(b" of", b" the way it")
    (False, False)
    >>> rule.forbids(b" by the way", b" it is"), rule.forbids(b"Answer:", b" yes")
    (True, True)
    >>> PairRule(patterns=["ug"]).forbids(b"h", b"ug")
    True
    >>> rule = PairRule(whole_characters=True)
    >>> rule.forbids(b"\\xc3", b"\\xa9"), rule.forbids(b"a", b"\\xc3")
    (False, True)
    """

    def __init__(
        self,
        *,
        superwords: bool = False,
        patterns: Sequence[str] = (),
        whole_characters: bool = False,
    ) -> None:
        self._superwords = superwords
        self._patterns = [regex.compile(pattern) for pattern in patterns]
        self._whole = whole_characters
        self.heaviest = -1 if patterns else MAX_WORDS
        """A pair whose weights are together at most this is not forbidden."""

    def weight(self, token: bytes) -> int:
        """Return a token's weight, of which a merged token has at most that of its parts.

        >>> PairRule(superwords=True).weight(b" of the"), PairRule().weight(b" of the")
        (2, 0)
        """
        if self._whole and _is_cut(token):
            return _ASKED
        if not self._superwords:
            return 0
        if token.endswith(_COLON) or _COLON_SPACE in token:
            return _ASKED
        return count_words(token)

    def forbids(self, left: bytes, right: bytes) -> bool:
        """Return True if two tokens must not merge."""
        token = left + right
        if self._superwords and (_COLON_SPACE in token or count_words(token) > MAX_WORDS):
            return True
        if self._whole and (_is_cut(left) or _is_cut(right)) and not _is_in_character(token):
            return True
        if not self._patterns:
            return False
        text = token.decode(errors="replace")
        return any(pattern.search(text) for pattern in self._patterns)


NO_RULE: Final = PairRule()
"""Forbids nothing."""


def vetoed_texts(config: TrainingConfig) -> tuple[bytes, ...]:
    """Return the bytes of the tokens that a training must not make, but for those of patterns.

    >>> vetoed_texts(TrainingConfig(vetoes=["hug", "regex:[0-9]"]))
    (b'hug',)
    """
    return tuple(veto.encode() for veto in config.vetoes if not veto.startswith(_PATTERN))


def vetoed_patterns(config: TrainingConfig) -> list[str]:
    """Return the patterns of the tokens that a training must not make.

    >>> vetoed_patterns(TrainingConfig(vetoes=["hug", "regex:[0-9]"]))
    ['[0-9]']
    """
    return [veto.removeprefix(_PATTERN) for veto in config.vetoes if veto.startswith(_PATTERN)]


def find_rule(config: TrainingConfig) -> PairRule:
    """Return the rule of a training's last stage, or of extending a tokenizer that has superwords.

    >>> find_rule(TrainingConfig()) is NO_RULE
    True
    >>> find_rule(TrainingConfig(pretokenizer="superwords")) is NO_RULE
    False
    """
    is_extended = config.pretokenizer.rpartition("+")[2] == "superwords"
    superwords = config.superwords_from is not None or is_extended
    patterns = vetoed_patterns(config)
    if not superwords and not patterns and not config.whole_characters:
        return NO_RULE
    return PairRule(
        superwords=superwords, patterns=patterns, whole_characters=config.whole_characters
    )


def _is_cut(token: bytes) -> bool:
    """Return True if a token begins or ends within a character."""
    if not token:
        return False
    last = max((at for at, byte in enumerate(token[-4:]) if byte & 0xC0 != 0x80), default=-1)
    tail = token[-4:][last:] if last >= 0 else token
    return token[0] & 0xC0 == 0x80 or len(tail) < _width(tail[0])


def _is_in_character(token: bytes) -> bool:
    """Return True if bytes are a character or a part of one."""
    is_one = all(byte & 0xC0 == 0x80 for byte in token[1:])
    return is_one and len(token) <= (_width(token[0]) if token[0] & 0xC0 != 0x80 else 3)


def _width(lead: int) -> int:
    """Return how many bytes a character has, given its first."""
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
