"""Align tokenizations of one text, and find where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import TokenizationError
from bpe_core.types import Segment
from bpe_core.unicode import WORD, byte_offsets, classify, code_points


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
    Raises TokenizationError if one does not end where the text does.

    >>> def cut(*pieces):
    ...     ends = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    ...     return [Segment(0, p.encode(), e - len(p), e, e - len(p), e)
    ...             for p, e in zip(pieces, ends)]
    >>> found = disagreements(cut("the", " i", "ter"), cut("the", " ", "it", "er"), "the iter")
    >>> [(d.byte_start, d.byte_end, d.a, d.b) for d in found]
    [(3, 8, slice(1, 3, None), slice(1, 4, None))]
    """
    ends = [np.array([segment.byte_end for segment in each], np.int64) for each in (a, b)]
    found = differing_columns(ends, text)
    # From the token after the first cut to the last one that ends at the second.
    bounds = [
        np.searchsorted(each, cuts, side="right").tolist()
        for each in ends
        for cuts in (found.byte_starts, found.byte_ends)
    ]
    spans = (found.byte_starts, found.byte_ends, found.starts, found.ends)
    rows = zip(*map(np.ndarray.tolist, spans), *bounds, found.has_word.tolist(), strict=True)
    return [
        Disagreement(
            byte_start,
            byte_end,
            start,
            end,
            slice(a_first, a_stop),
            slice(b_first, b_stop),
            has_word,
        )
        for byte_start, byte_end, start, end, a_first, a_stop, b_first, b_stop, has_word in rows
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Stretches between two cuts common to all tokenizations, which not all split alike."""

    byte_starts: NDArray[np.int64]
    byte_ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    """In characters, with the whole of a character that a stretch cuts."""
    ends: NDArray[np.int64]
    has_word: NDArray[np.bool_]
    """True if it contains a letter, mark or number."""


def differing_columns(byte_ends: Sequence[NDArray[np.int64]], text: str) -> Stretches:
    """Return where any number of tokenizations of a text differ, given their token ends, ascending.

    Raises TokenizationError if one does not end where the text does.

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
