"""Segments built in bulk equal those built with the constructor."""

from __future__ import annotations

import pytest
from hypothesis import given

import bpe_core as bpe
from bpe_core.tokenizer.segments import build_segments
from tests.strategies import texts


@given(texts)
def test_segments_built_in_bulk_equal_those_built_one_by_one(text: str) -> None:
    built = bpe.gpt2().segments(text)
    columns = [
        [segment.id for segment in built],
        [segment.token for segment in built],
        [segment.start for segment in built],
        [segment.end for segment in built],
        [segment.byte_start for segment in built],
        [segment.byte_end for segment in built],
    ]
    assert build_segments(*columns) == list(map(bpe.Segment, *columns)) == built
    assert [hash(segment) for segment in built] == [hash(one) for one in map(bpe.Segment, *columns)]


def test_a_missing_column_is_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        build_segments([7], [b"a"], [0], [1], [0])
    assert build_segments(*[[]] * 6) == []
