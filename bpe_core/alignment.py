"""Two tokenizations of one text, laid side by side: where they cut alike, and where not."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.errors import TokenizationError
from bpe_core.types import Segment
from bpe_core.unicode.kinds import WORD, code_points, kinds_of, utf8_lengths


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A stretch of text between two cuts that both tokenizations make, cut otherwise within.

    It is as short as can be: no cut inside it is common to both. Ids play no part, since the same
    token has another id in another vocabulary.
    """

    byte_start: int
    byte_end: int
    start: int
    """In characters, with the whole of a character that the stretch cuts."""
    end: int
    a: slice
    """The first tokenization's segments that make it up."""
    b: slice
    has_word: bool
    """True where a letter, mark or number stands in it; else it is punctuation and white space."""


def disagreements(a: Sequence[Segment], b: Sequence[Segment], text: str) -> list[Disagreement]:
    """Find where two tokenizations of a text differ, in order; outside they cut alike.

    Segments without length, as a lone end-of-word marker has, go with the stretch before them.
    Linear in the number of segments. Raises TokenizationError where the two do not end at the same
    byte, since they are of different texts then.

    >>> def cut(*pieces):
    ...     ends = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    ...     return [Segment(0, p.encode(), e - len(p), e, e - len(p), e)
    ...             for p, e in zip(pieces, ends)]
    >>> found = disagreements(cut("the", " i", "ter"), cut("the", " ", "it", "er"), "the iter")
    >>> [(d.byte_start, d.byte_end, d.a, d.b) for d in found]
    [(3, 8, slice(1, 3, None), slice(1, 4, None))]
    """
    length = a[-1].byte_end if a else 0
    other_length = b[-1].byte_end if b else 0
    if length != other_length:
        raise TokenizationError(
            f"One tokenization covers {length:,} bytes, the other {other_length:,}: they are of "
            "different texts. Give two of the same."
        )
    word_characters = _word_characters(text)
    found: list[Disagreement] = []
    i, j = _past_empty(a, 0), _past_empty(b, 0)
    while i < len(a):
        first_i, first_j = i, j
        end_a, end_b = a[i].byte_end, b[j].byte_end
        while end_a != end_b:
            if end_a < end_b:
                i += 1
                end_a = a[i].byte_end
            else:
                j += 1
                end_b = b[j].byte_end
        last = a[i]
        i, j = _past_empty(a, i + 1), _past_empty(b, j + 1)
        # Equal ends at the first try, or both of them one segment: the same cut.
        if last is a[first_i] and b[first_j].byte_end == last.byte_end:
            continue
        start, end = a[first_i].start, last.end
        found.append(
            Disagreement(
                byte_start=a[first_i].byte_start,
                byte_end=last.byte_end,
                start=start,
                end=end,
                a=slice(first_i, i),
                b=slice(first_j, j),
                has_word=word_characters[end] > word_characters[start],
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of text between two cuts that all tokenizations make, not all cut alike within."""

    byte_start: int
    byte_end: int
    start: int
    """In characters, with the whole of a character that the stretch cuts."""
    end: int
    has_word: bool
    """True where a letter, mark or number stands in it."""


def differing_stretches(tokenizations: Sequence[Sequence[Segment]], text: str) -> list[Stretch]:
    """Find where any number of tokenizations of a text differ, in order.

    Of two, these are their disagreements. Raises TokenizationError for one that does not end where
    the text does.

    >>> def cut(*pieces):
    ...     ends = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    ...     return [Segment(0, p.encode(), e - len(p), e, e - len(p), e)
    ...             for p, e in zip(pieces, ends)]
    >>> found = differing_stretches([cut("ab", "cd"), cut("ab", "c", "d"), cut("abcd")], "abcd")
    >>> [(stretch.byte_start, stretch.byte_end) for stretch in found]
    [(0, 4)]
    """
    n_bytes = len(text.encode())
    for segments in tokenizations:
        covered = segments[-1].byte_end if segments else 0
        if covered != n_bytes:
            raise TokenizationError(
                f"A tokenization covers {covered:,} bytes of a text of {n_bytes:,}: it is of "
                "another text. Give tokenizations of the one that is given."
            )
    cuts = [{segment.byte_end for segment in segments} for segments in tokenizations]
    common = sorted({0, n_bytes}.union(set[int]().union(*cuts[:1]).intersection(*cuts[1:])))
    differing = sorted(set[int]().union(*cuts).difference(common))
    utf8 = np.concatenate([[0], np.cumsum(utf8_lengths(code_points(text)))])
    words = _word_characters(text)
    found: list[Stretch] = []
    # Each stretch holds at least one cut that not all of them make.
    for place in sorted({bisect_left(common, cut) for cut in differing}):
        a, b = common[place - 1], common[place]
        start = int(np.searchsorted(utf8, a, side="right")) - 1
        end = int(np.searchsorted(utf8, b))
        found.append(Stretch(a, b, start, end, words[end] > words[start]))
    return found


def _past_empty(segments: Sequence[Segment], index: int) -> int:
    while index < len(segments) and segments[index].byte_start == segments[index].byte_end:
        index += 1
    return index


def _word_characters(text: str) -> list[int]:
    """Count the word characters before each character of the text, and before its end."""
    counts = [0]
    for kind in kinds_of(code_points(text)).tolist():
        counts.append(counts[-1] + (kind == WORD))
    return counts
