"""Texts are cut into special tokens and ordinary text, whatever their number and position."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.kernels.compiling.choose import compile_kernels
from bpe_core.pretokenizers.special_tokens import (
    OrdinaryText,
    SpecialToken,
    find_special_tokens,
    list_pieces,
)
from bpe_core.tokenizer.gpt2 import END_OF_TEXT, gpt2
from bpe_core.tokenizer.tokenizer import Tokenizer

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


@pytest.fixture(scope="module")
def by_kernels() -> Tokenizer:
    """Return a tokenizer that uses kernels for texts of at least 2,000 characters."""
    compile_kernels()
    tokenizer = gpt2().truncated(2_000)
    tokenizer.encode("hug " * 500_000)
    assert tokenizer._kernels.worth(2_000) is not None
    return tokenizer


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        f"{'hug ' * 600}{END_OF_TEXT}",
        f"{END_OF_TEXT}{'hug ' * 600}",
        f"{END_OF_TEXT}{'hug ' * 600}é{END_OF_TEXT}{END_OF_TEXT}🙂{END_OF_TEXT}{END_OF_TEXT}",
        END_OF_TEXT * 300,
        f"hug{END_OF_TEXT} hugs" * 300,
        "hug " * 600,
    ],
    ids=["last", "first", "side by side", "nothing else", "many", "none"],
)
def test_kernels_find_special_tokens_where_plain_python_does(
    by_kernels: Tokenizer, text: str
) -> None:
    wanted: list[int] = []
    for number, ordinary in enumerate(text.split(END_OF_TEXT)):
        if number:
            wanted.append(50256)
        wanted += gpt2().truncated(2_000).encode(ordinary)
    assert len(text) > 2_000
    assert by_kernels.encode(text, "all") == wanted
    ids = by_kernels.encode_to_numpy(text, "all")
    assert ids.dtype == np.int32
    assert ids.tolist() == wanted
    assert [segment.id for segment in by_kernels.segments(text, "all")] == wanted


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
    assert tokenizer._kernels.worth(2_000) is not None
    assert tokenizer.encode("<s>" * 1_000, "all") == [256] * 1_000
