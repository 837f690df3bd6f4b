"""Alignment agrees with its slow definition, which compares the sets of cuts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.comparison import Stretches
from bpe_core.comparison.comparison import Disagreement, disagreements
from bpe_core.errors import TokenizationError
from bpe_core.types import Segment


def piece_segments(*pieces: bytes | tuple[bytes, int], first_id: int = 0) -> list[Segment]:
    """Return segments of consecutive pieces; a length limits a piece to its first bytes."""
    spans: list[tuple[bytes, int, int]] = []
    text = b""
    for piece in pieces:
        token, length = piece if isinstance(piece, tuple) else (piece, len(piece))
        spans.append((token, len(text), len(text) + length))
        text += token[:length]
    # For each byte, and for the end, the character that holds it.
    holder = [i for i, character in enumerate(text.decode()) for _ in character.encode()]
    segments: list[Segment] = []
    for id_, (token, start, end) in enumerate(spans, first_id):
        before = holder[start - 1] + 1 if start else 0
        first, last = (holder[start], holder[end - 1] + 1) if start < end else (before, before)
        segments.append(Segment(id_, token, first, last, start, end))
    return segments


def covered_text(segments: list[Segment]) -> str:
    """Return the text that segments cover, without an end-of-word marker."""
    return b"".join(s.token[: s.byte_end - s.byte_start] for s in segments).decode()


@st.composite
def two_tokenizations(draw: st.DrawFn) -> tuple[str, list[Segment], list[Segment]]:
    text = draw(st.text(st.sampled_from("ab .é漢😀\n1"), max_size=12))
    data = text.encode()
    tokenizations: list[list[Segment]] = []
    for _ in range(2):
        cuts = draw(st.sets(st.integers(1, max(1, len(data) - 1))))
        ends = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
        pieces = [data[i:j] for i, j in itertools.pairwise(ends) if i < j]
        tokenizations.append(piece_segments(*pieces))
    return text, tokenizations[0], tokenizations[1]


def slow_disagreements(a: list[Segment], b: list[Segment]) -> list[tuple[int, int]]:
    cuts_a = {0} | {segment.byte_end for segment in a}
    cuts_b = {0} | {segment.byte_end for segment in b}
    common = sorted(cuts_a & cuts_b)
    return [
        (start, end)
        for start, end in itertools.pairwise(common)
        if any(start < cut < end for cut in cuts_a ^ cuts_b)
    ]


@given(two_tokenizations())
def test_disagreements_are_the_differing_spans_between_shared_cuts(
    case: tuple[str, list[Segment], list[Segment]],
) -> None:
    _, a, b = case
    found = disagreements(a, b, covered_text(a))
    assert [(d.byte_start, d.byte_end) for d in found] == slow_disagreements(a, b)


@given(two_tokenizations())
def test_a_disagreement_has_the_tokens_and_characters_of_its_span(
    case: tuple[str, list[Segment], list[Segment]],
) -> None:
    text, a, b = case
    for found in disagreements(a, b, covered_text(a)):
        for part in (a[found.a], b[found.b]):
            assert part[0].byte_start == found.byte_start
            assert part[-1].byte_end == found.byte_end
        begins = [len(text[:n].encode()) for n in range(len(text) + 1)]
        assert found.start == max(n for n, at in enumerate(begins) if at <= found.byte_start)
        assert found.end == min(n for n, at in enumerate(begins) if at >= found.byte_end)
        stretch = text[found.start : found.end]
        assert text.encode()[found.byte_start : found.byte_end] in stretch.encode()
        assert found.has_word is any(character.isalnum() for character in stretch)


@given(two_tokenizations())
def test_the_order_of_the_two_does_not_matter(
    case: tuple[str, list[Segment], list[Segment]],
) -> None:
    _, a, b = case
    mirrored = [
        Disagreement(d.byte_start, d.byte_end, d.start, d.end, d.b, d.a, d.has_word)
        for d in disagreements(b, a, covered_text(b))
    ]
    assert disagreements(a, b, covered_text(a)) == mirrored


@given(two_tokenizations(), st.data())
def test_a_stretch_of_many_tokenizations_lies_between_cuts_that_all_share(
    case: tuple[str, list[Segment], list[Segment]], data: st.DataObject
) -> None:
    text, *tokenizations = case
    n_bytes = len(text.encode())
    for _ in range(data.draw(st.integers(0, 2))):
        cuts = data.draw(st.sets(st.integers(1, max(1, n_bytes - 1))))
        ends = [0, *sorted(cut for cut in cuts if cut < n_bytes), n_bytes]
        pieces = [text.encode()[i:j] for i, j in itertools.pairwise(ends) if i < j]
        tokenizations.append(piece_segments(*pieces))
    sets = [{0} | {segment.byte_end for segment in segments} for segments in tokenizations]
    common = sorted(set.intersection(*sets))
    expected = [
        (start, end)
        for start, end in itertools.pairwise(common)
        if any(start < cut < end for cuts in sets for cut in cuts)
    ]
    ends = [np.array([each.byte_end for each in segments], np.int64) for segments in tokenizations]
    found = Stretches.between(ends, text)
    assert list(zip(found.byte_starts.tolist(), found.byte_ends.tolist(), strict=True)) == expected


# Markers, and texts that differ


def test_a_separate_marker_belongs_to_the_stretch_before_it() -> None:
    a = piece_segments(b"ab", (b"</w>", 0), b" ", b"c", (b"</w>", 0))
    b = piece_segments(b"a", b"b", b" ", b"c")
    (only,) = disagreements(a, b, covered_text(a))
    assert (only.byte_start, only.byte_end, only.a, only.b) == (0, 2, slice(0, 2), slice(0, 2))


def test_the_letters_of_a_marker_are_not_counted_as_a_word() -> None:
    a, b = piece_segments(b".", (b".</w>", 1)), piece_segments(b"..")
    (only,) = disagreements(a, b, covered_text(a))
    assert not only.has_word


def test_tokenizations_of_different_texts_are_refused() -> None:
    with pytest.raises(TokenizationError, match="tokenizations of this text"):
        disagreements(piece_segments(b"ab"), piece_segments(b"abc"), "ab")
