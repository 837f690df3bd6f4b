"""Align tokenizations of one text, and find where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import TokenizationError
from bpe_core.types import Segment
from bpe_core.unicode.kinds import WORD, byte_offsets, classify, code_points


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A stretch of text between two common cuts of two tokenizations, split differently within.

    It is as short as possible: no cut inside it is common to both. Ids are not compared, because
    the same token has different ids in different vocabularies.
    """

    byte_start: int
    byte_end: int
    start: int
    """In characters, with the whole of a character that the stretch cuts."""
    end: int
    a: slice
    """The first tokenization's segments in it."""
    b: slice
    has_word: bool
    """True if it contains a letter, mark or number; else it is punctuation and white space."""


def disagreements(a: Sequence[Segment], b: Sequence[Segment], text: str) -> list[Disagreement]:
    """Return the stretches where two tokenizations of a text differ, in order.

    Segments of length 0, such as a separate end-of-word marker, belong to the stretch before them.
    Takes linear time. Raises TokenizationError if the two do not end at the same byte, because they
    are then of different texts.

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
            f"One tokenization covers {length:,} bytes, the other {other_length:,}, so they are of "
            "different texts. Compare tokenizations of the same text."
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
        # If the first segments end together, or both have one segment, they are split alike.
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
class DifferingStretch:
    """A stretch of text between two cuts common to all tokenizations, not split alike by all."""

    byte_start: int
    byte_end: int
    start: int
    """In characters, with the whole of a character that the stretch cuts."""
    end: int
    has_word: bool
    """True if it contains a letter, mark or number."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Many `DifferingStretch` objects in columns, for texts with a million of them."""

    byte_starts: NDArray[np.int64]
    byte_ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    has_word: NDArray[np.bool_]


def differing_stretches(
    tokenizations: Sequence[Sequence[Segment]], text: str
) -> list[DifferingStretch]:
    """Return the stretches where any number of tokenizations of a text differ, in order.

    For two tokenizations, these are their disagreements. Raises TokenizationError if one does not
    end where the text does.

    >>> def cut(*pieces):
    ...     ends = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    ...     return [Segment(0, p.encode(), e - len(p), e, e - len(p), e)
    ...             for p, e in zip(pieces, ends)]
    >>> found = differing_stretches([cut("ab", "cd"), cut("ab", "c", "d"), cut("abcd")], "abcd")
    >>> [(stretch.byte_start, stretch.byte_end) for stretch in found]
    [(0, 4)]
    """
    byte_ends = [
        np.fromiter((segment.byte_end for segment in segments), np.int64, len(segments))
        for segments in tokenizations
    ]
    found = differing_columns(byte_ends, text)
    columns = (found.byte_starts, found.byte_ends, found.starts, found.ends, found.has_word)
    return [
        DifferingStretch(*row) for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def differing_columns(byte_ends: Sequence[NDArray[np.int64]], text: str) -> Stretches:
    """Do the same as `differing_stretches`, given each tokenization's token ends, ascending.

    Raises what `differing_stretches` raises.

    >>> ends = [np.array(each, np.int64) for each in ([2, 4], [2, 3, 4], [1, 2, 4])]
    >>> found = differing_columns(ends, "ab é"[:3])
    Traceback (most recent call last):
        ...
    bpe_core.errors.TokenizationError: A tokenization covers 4 bytes, but the text has 3. Give \
tokenizations of this text.
    >>> found = differing_columns(ends, "abé")
    >>> found.byte_starts.tolist(), found.byte_ends.tolist(), found.starts.tolist()
    ([0, 2], [2, 4], [0, 2])
    """
    points = code_points(text)
    at = byte_offsets(text)
    n_bytes = int(at[-1])
    # The number of tokenizations that cut at each byte; tokens of length 0 must not count twice.
    n_cuts = np.zeros(n_bytes + 1, np.int32)
    for ends in byte_ends:
        covered = int(ends[-1]) if len(ends) else 0
        if covered != n_bytes:
            raise TokenizationError(
                f"A tokenization covers {covered:,} bytes, but the text has {n_bytes:,}. Give "
                "tokenizations of this text."
            )
        is_cut = np.zeros(n_bytes + 1, np.bool_)
        is_cut[ends] = True
        n_cuts += is_cut
    n_cuts[[0, -1]] = len(byte_ends)
    common = np.flatnonzero(n_cuts == len(byte_ends))
    differing = np.flatnonzero((n_cuts > 0) & (n_cuts < len(byte_ends)))
    # Each stretch contains at least one cut that is not common to all.
    places = np.unique(np.searchsorted(common, differing))
    byte_starts, stops = common[places - 1], common[places]
    starts = np.searchsorted(at, byte_starts, side="right") - 1
    ends_in_characters = np.searchsorted(at, stops)
    words = np.concatenate([[0], np.cumsum(classify(points) == WORD)])
    has_word = words[ends_in_characters] > words[starts]
    return Stretches(byte_starts, stops, starts, ends_in_characters, has_word)


def _past_empty(segments: Sequence[Segment], index: int) -> int:
    while index < len(segments) and segments[index].byte_start == segments[index].byte_end:
        index += 1
    return index


def _word_characters(text: str) -> list[int]:
    """Count the word characters before each character of the text, and before its end."""
    return [0, *np.cumsum(classify(code_points(text)) == WORD).tolist()]
