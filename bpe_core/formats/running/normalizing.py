"""Show what a normalizer changed in a text: its pieces next to the normalised ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_META: Final = "▁"
# How far to look for the place where both texts agree again, and how many characters must agree.
_FARTHEST: Final = 32
_AGREEING: Final = 3


@dataclass(frozen=True, slots=True)
class NormalizedPiece:
    """A piece of a text, and what the normalizer made of it; one of them may be empty."""

    text: str
    normalized: str

    @property
    def is_changed(self) -> bool:
        """Whether the normalizer changed it."""
        return self.text != self.normalized

    @property
    def is_mark(self) -> bool:
        """Whether only ▁ was written for spaces, or put in front.

        >>> NormalizedPiece("  ", "▁▁").is_mark, NormalizedPiece(" ﬁ", "▁fi").is_mark
        (True, False)
        """
        marked = self.text.replace(" ", _META) or _META
        return self.is_changed and self.normalized == marked


def normalized_pieces(text: str, normalized: str) -> list[NormalizedPiece]:
    """Divide a text and its normalised form into pieces that agree and pieces that changed.

    The pieces of each, joined, are the whole text. A space that became ▁ is a change. If there is
    no place from which both agree again, the rest is one piece. Takes linear time.

    >>> def pairs(text, normalized):
    ...     return [(each.text, each.normalized) for each in normalized_pieces(text, normalized)]
    >>> pairs("of ﬁne print", "of fine print")
    [('of ', 'of '), ('ﬁ', 'fi'), ('ne print', 'ne print')]
    >>> pairs("a b", "▁a▁b")
    [('', '▁'), ('a', 'a'), (' ', '▁'), ('b', 'b')]
    """
    found: list[list[str]] = []

    def add(left: str, right: str) -> None:
        if found and (found[-1][0] == found[-1][1]) == (left == right):
            found[-1][0] += left
            found[-1][1] += right
        elif left or right:
            found.append([left, right])

    # A space and ▁ stand at the same place; a ▁ of the text itself does too.
    ours, theirs = text.replace(" ", _META), normalized.replace(" ", _META)
    i = j = 0
    while i < len(text) or j < len(normalized):
        if i < len(text) and j < len(normalized) and ours[i] == theirs[j]:
            add(text[i], normalized[j])
            i, j = i + 1, j + 1
            continue
        skipped, made = _next_alike(ours, theirs, i, j)
        add(text[i : i + skipped], normalized[j : j + made])
        i, j = i + skipped, j + made
    return [NormalizedPiece(left, right) for left, right in found]


def _next_alike(ours: str, theirs: str, i: int, j: int) -> tuple[int, int]:
    """Return how many characters of each to skip, as few as possible, until both agree again."""
    for total in range(1, 2 * _FARTHEST + 1):
        # Most normalizers replace single characters, and then one agreeing character is enough.
        if (
            total == 2
            and i < len(ours)
            and j < len(theirs)
            and ours[i + 1 : i + 2] == theirs[j + 1 : j + 2]
        ):
            return 1, 1
        for made in range(max(0, total - _FARTHEST), min(total, _FARTHEST) + 1):
            skipped = total - made
            a, b = i + skipped, j + made
            if a > len(ours) or b > len(theirs):
                continue
            left, right = ours[a : a + _AGREEING], theirs[b : b + _AGREEING]
            if left == right and (left or (a == len(ours) and b == len(theirs))):
                return skipped, made
    return len(ours) - i, len(theirs) - j
