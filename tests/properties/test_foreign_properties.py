"""Tokenizers run by another library return its ids and lose no byte of a text."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from tests import foreign_models as models
from tests.foreign_models import library_encoder

PEERS = {
    "word-piece": models.word_piece(),
    "unigram": models.unigram(),
    "byte-fallback": models.byte_fallback(),
    "byte-level": models.byte_level(),
    "prefix-space": models.byte_level(prefix_space=True),
}
FOREIGN = {name: library_encoder(models.described(peer)) for name, peer in PEERS.items()}
UNPROCESSED = {
    # Leave out the post-processor, which may trim the offsets.
    name: tokenizers.Tokenizer.from_str(
        json.dumps({**models.described(peer), "post_processor": None})
    )
    for name, peer in PEERS.items()
}
TEXTS = st.text(
    st.one_of(
        st.sampled_from("ab é\n\t.漢😀ﬁⅧ\u0301\u200dßi̇ \x00\ufeff"), st.characters(codec="utf-8")
    ),
    max_size=30,
)
each = pytest.mark.parametrize("name", PEERS)


def plain(peer: tokenizers.Tokenizer, text: str) -> list[int]:
    return peer.encode(text, add_special_tokens=False).ids


@each
@given(text=TEXTS)
def test_ids_and_texts_equal_the_librarys(name: str, text: str) -> None:
    # Texts this short almost never spell a special token.
    ids = plain(PEERS[name], text)
    assert FOREIGN[name].encode(text) == ids
    assert FOREIGN[name].encode_batch([text, "a"])[0] == ids
    assert FOREIGN[name].decode(ids) == PEERS[name].decode(ids, skip_special_tokens=False)


@each
@given(text=TEXTS)
def test_each_byte_is_in_exactly_one_segment(name: str, text: str) -> None:
    segments = FOREIGN[name].segments(text)
    data = text.encode()
    at = 0
    for segment in segments:
        assert segment.byte_start == at <= segment.byte_end
        at = segment.byte_end
        if segment.byte_start < segment.byte_end:
            # Find the characters of the first and last byte by decoding the prefixes.
            assert segment.start == len(data[: segment.byte_start].decode(errors="ignore"))
            assert segment.end == len(data[: segment.byte_end].decode(errors="replace"))
        if segment.id is None:
            assert segment.token == data[segment.byte_start : segment.byte_end] != b""
    assert at == len(data)
    ids = [segment.id for segment in segments if segment.id is not None]
    assert ids == FOREIGN[name].encode(text)


def segments_one_by_one(name: str, text: str) -> list[bpe.Segment]:
    """Place the library's tokens by its offsets, token by token."""
    encoding = UNPROCESSED[name].encode(text, add_special_tokens=False)
    placed = [(id, *place) for id, place in zip(encoding.ids, encoding.offsets, strict=True)]
    vocab = FOREIGN[name].vocab
    byte_at = [0]
    for character in text:
        byte_at.append(byte_at[-1] + len(character.encode()))
    found: list[bpe.Segment] = []

    def add(id: int | None, token: bytes, a: int, b: int) -> None:
        first = bisect_right(byte_at, a) - 1
        found.append(
            bpe.Segment(id, token, first, bisect_left(byte_at, b) if a < b else first, a, b)
        )

    def add_gap(start: int, end: int) -> None:
        if start < end:
            add(None, text[start:end].encode(), byte_at[start], byte_at[end])

    at = first = 0
    while first < len(placed):
        last, end = first, placed[first][2]
        while last + 1 < len(placed) and placed[last + 1][1] < end:
            last += 1
            end = max(end, placed[last][2])
        add_gap(at, placed[first][1])
        start, end = max(at, placed[first][1]), max(at, end)
        group = placed[first : last + 1]
        tokens = [vocab[id] for id, _, _ in group]
        cuts = [byte_at[start]]
        if len(group) > 1 and b"".join(tokens).endswith(text[start:end].encode()):
            left = byte_at[end]
            for token in reversed(tokens):
                cuts.insert(1, left)
                left = max(byte_at[start], left - len(token))
        else:
            for _, following, _ in group[1:]:
                cuts.append(max(cuts[-1], byte_at[min(max(following, start), end)]))
            cuts.append(byte_at[end])
        for (id, _, _), token, a, b in zip(group, tokens, cuts[:-1], cuts[1:], strict=True):
            add(id, token, a, b)
        at, first = end, last + 1
    add_gap(at, len(text))
    return found


@each
@given(texts=st.lists(TEXTS, max_size=3))
def test_tokens_placed_in_batches_equal_those_placed_one_by_one(
    name: str, texts: list[str]
) -> None:
    expected = [segments_one_by_one(name, text) for text in texts]
    assert [FOREIGN[name].segments(text) for text in texts] == expected
    for columns, segments in zip(FOREIGN[name].place_tokens(texts), expected, strict=True):
        assert columns.ids.tolist() == [-1 if s.id is None else s.id for s in segments]
        assert columns.byte_starts.tolist() == [s.byte_start for s in segments]
        assert columns.byte_ends.tolist() == [s.byte_end for s in segments]


@given(text=TEXTS)
def test_byte_level_tokens_cover_exactly_their_bytes(text: str) -> None:
    data = text.encode()
    for segment in FOREIGN["byte-level"].segments(text):
        assert segment.token == data[segment.byte_start : segment.byte_end]
    for number, segment in enumerate(FOREIGN["prefix-space"].segments(text)):
        there = data[segment.byte_start : segment.byte_end]
        assert segment.token == there or (number == 0 and segment.token == b" " + there)


@each
@given(text=TEXTS.filter(bool))
def test_the_figures_agree_with_the_segments(name: str, text: str) -> None:
    foreign: bpe.Encoder = FOREIGN[name]
    (row,) = bpe.compare(text, [foreign]).rows
    segments = foreign.segments(text)
    assert row.n_tokens == sum(segment.id is not None for segment in segments)
    lost = [s for s in segments if s.id is None or s.id == foreign.unknown_id]
    assert row.uncovered_bytes == sum(s.byte_end - s.byte_start for s in lost)
    assert row.dropped_bytes <= row.uncovered_bytes
