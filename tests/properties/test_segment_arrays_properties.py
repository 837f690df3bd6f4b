"""Boundaries in columns agree with the individual segments and pre-tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.tokenizer import boundaries
from bpe_core.tokenizer.steps import SpecialToken, find_special_tokens, list_pieces
from tests.strategies import texts

CLASSROOM = bpe.train(
    bpe.Corpus.from_text("hug hugs bug bugs pug"),
    bpe.TrainingConfig(20, "whitespace", base="characters", end_of_word="</w>", special_tokens=()),
).tokenizer
TOKENIZERS = (bpe.gpt2(), bpe.gpt2().truncated(40), CLASSROOM)


def pretoken_byte_starts(text: str, tokenizer: bpe.Tokenizer, special: tuple[str, ...]) -> set[int]:
    """Return the offset of the first byte of each pre-token and special token, found slowly."""
    starts: set[int] = set()
    found = find_special_tokens(text, tokenizer.special_tokens, frozenset(special))
    for piece in list_pieces(text, found):
        ordinary = text[piece.start : piece.end]
        is_special = isinstance(piece, SpecialToken)
        spans = [(0, 0)] if is_special else tokenizer.pretokenizer.spans(ordinary)
        starts |= {len(text[: piece.start + first].encode()) for first, _ in spans}
    return starts


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=["gpt2", "few merges", "classroom"])
@given(data=st.data())
def test_columns_agree_with_segments(tokenizer: bpe.Tokenizer, data: st.DataObject) -> None:
    text = data.draw(texts | st.text("hugs <|endoftext|> é🧩\r\n"))
    special = data.draw(st.sampled_from([(), tuple(tokenizer.special_tokens)]))
    found = boundaries(text, tokenizer, special)
    segments = tokenizer.segments(text, special)
    assert found.ids.tolist() == [-1 if s.id is None else s.id for s in segments]
    assert found.byte_ends.tolist() == [s.byte_end for s in segments]
    wanted = pretoken_byte_starts(text, tokenizer, special)
    gaps = {s.byte_start for s in segments if s.id is None}
    for starts, segment in zip(found.starts_pretoken.tolist(), segments, strict=True):
        if segment.byte_start == segment.byte_end:
            assert not starts
        elif segment.byte_start not in gaps:
            assert starts == (segment.byte_start in wanted)


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=["gpt2", "few merges", "classroom"])
@given(data=st.data())
def test_the_first_pretokens_are_those_of_the_whole(
    tokenizer: bpe.Tokenizer, data: st.DataObject
) -> None:
    text = data.draw(texts | st.text("hugs <|endoftext|> é🧩\r\n"))
    most = data.draw(st.integers(0, 40))
    special = data.draw(st.sampled_from([(), tuple(tokenizer.special_tokens)]))
    every = boundaries(text, tokenizer, special)
    some = boundaries(text, tokenizer, special, max_starts=most)
    assert some.ids.tolist() == every.ids.tolist()
    assert some.byte_ends.tolist() == every.byte_ends.tolist()
    assert some.starts_pretoken.tolist()[:most] == every.starts_pretoken.tolist()[:most]


@pytest.mark.parametrize("name", ["gpt2", "whitespace", "none", "regex:[a-z]"])
@given(text=texts, before=st.integers(0, 40))
def test_starts_are_those_of_the_spans(name: str, text: str, before: int) -> None:
    pretokenizer = bpe.get_pretokenizer(name)
    starts = [start for start, _ in pretokenizer.spans(text) if start < before]
    assert pretokenizer.starts(text, before).tolist() == starts


@given(texts, st.integers(0, 40))
def test_the_first_tokens_cover_whole_characters(text: str, n: int) -> None:
    found = boundaries(text, bpe.gpt2())
    some, part = found.first(n, text)
    assert text.startswith(part)
    assert len(some.ids) >= min(n, len(found.ids))
    assert some.ids.tolist() == found.ids[: len(some.ids)].tolist()
    assert (int(some.byte_ends[-1]) if len(some.ids) else 0) == len(part.encode())
    # Only the tokens that complete a character were added.
    assert len(some.ids) - min(n, len(found.ids)) <= 3
