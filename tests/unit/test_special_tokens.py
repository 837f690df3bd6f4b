"""Texts are cut into special tokens and ordinary text, whatever their number and position."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.kernels import compile_kernels
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.steps import OrdinaryText, SpecialToken, find_special_tokens, list_pieces

SPECIAL = {"<a>": 7, "<a><b>": 8, "x": 9, "é": 10}


@given(
    st.lists(st.sampled_from([*SPECIAL, "<", "a>", "b", " "]), max_size=12).map("".join),
    st.frozensets(st.sampled_from(list(SPECIAL))),
)
def test_pieces_cover_a_text_and_no_special_token_is_left_in_ordinary_text(
    text: str, allowed: frozenset[str]
) -> None:
    found = find_special_tokens(text, SPECIAL, allowed)
    pieces = list_pieces(text, found)
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    covered = 0
    before: object = None
    for piece in pieces:
        assert piece.start == covered < piece.end
        covered = piece.end
        if isinstance(piece, SpecialToken):
            longest = max((t for t in allowed if text.startswith(t, piece.start)), key=len)
            assert (text[piece.start : piece.end], piece.id) == (longest, SPECIAL[longest])
        else:
            assert not any(token in text[piece.start : piece.end] for token in allowed)
            assert not isinstance(before, OrdinaryText)
        before = piece
    assert [piece for piece in pieces if isinstance(piece, SpecialToken)] == found


@pytest.mark.slow
def test_a_custom_pattern_accepts_a_text_of_special_tokens_only() -> None:
    compile_kernels()
    tokenizer = Tokenizer(
        vocab={**{n: bytes([n]) for n in range(256)}, 256: b"<s>"},
        merges=[],
        pretokenizer="regex:[a-z]+|[^a-z]+",
        special_tokens={"<s>": 256},
    )
    tokenizer.encode("hug " * 500_000)
    assert tokenizer.encoder.kernels.worth(2_000) is not None
    assert tokenizer.encode("<s>" * 1_000, "all") == [256] * 1_000
