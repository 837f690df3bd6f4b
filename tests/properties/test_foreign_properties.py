"""Tokenizers that another library runs: the same ids as from it, and no byte of a text lost."""

from __future__ import annotations

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.comparison.comparison import compare
from bpe_core.formats.foreign import ForeignTokenizer
from bpe_core.tokenizer.protocol import Encoder
from tests import foreign_models as models

PEERS = {
    "word-piece": models.word_piece(),
    "unigram": models.unigram(),
    "byte-fallback": models.byte_fallback(),
    "byte-level": models.byte_level(),
    "prefix-space": models.byte_level(prefix_space=True),
}
FOREIGN = {name: ForeignTokenizer(models.described(peer)) for name, peer in PEERS.items()}
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
def test_the_ids_are_the_librarys(name: str, text: str) -> None:
    # Texts this short hardly ever spell a special token.
    assert FOREIGN[name].encode(text) == plain(PEERS[name], text)


@each
@given(text=TEXTS)
def test_each_byte_is_in_one_segment_and_each_token_has_one(name: str, text: str) -> None:
    segments = FOREIGN[name].segments(text)
    data = text.encode()
    at = 0
    for segment in segments:
        assert segment.byte_start == at <= segment.byte_end
        at = segment.byte_end
        if segment.byte_start < segment.byte_end:
            # The characters that hold the first and the last byte, by decoding the prefixes.
            assert segment.start == len(data[: segment.byte_start].decode(errors="ignore"))
            assert segment.end == len(data[: segment.byte_end].decode(errors="replace"))
        if segment.id is None:
            assert segment.token == data[segment.byte_start : segment.byte_end] != b""
    assert at == len(data)
    ids = [segment.id for segment in segments if segment.id is not None]
    assert ids == FOREIGN[name].encode(text)


@given(text=TEXTS)
def test_byte_level_tokens_stand_on_just_their_bytes(text: str) -> None:
    data = text.encode()
    for segment in FOREIGN["byte-level"].segments(text):
        assert segment.token == data[segment.byte_start : segment.byte_end]
    for number, segment in enumerate(FOREIGN["prefix-space"].segments(text)):
        there = data[segment.byte_start : segment.byte_end]
        assert segment.token == there or (number == 0 and segment.token == b" " + there)


@each
@given(text=TEXTS.filter(bool))
def test_the_figures_are_those_of_the_segments(name: str, text: str) -> None:
    foreign: Encoder = FOREIGN[name]
    (row,) = compare(text, [foreign]).rows
    segments = foreign.segments(text)
    assert row.n_tokens == sum(segment.id is not None for segment in segments)
    lost = [s for s in segments if s.id is None or s.id == foreign.unknown_id]
    assert row.uncovered_bytes == sum(s.byte_end - s.byte_start for s in lost)
    assert row.dropped_bytes <= row.uncovered_bytes
