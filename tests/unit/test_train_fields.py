"""The fields on Train: accepted and refused values, and the notes about them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.shell import FieldLimits
from ui.train.custom_fields import read_marker, read_special_tokens

LIMITS = FieldLimits(257, 1_000_000, "There are 257 to begin with.", "No page shows more.")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (256, "256 is too small: expected at least 257. There are 257 to begin with."),
        (-5, "-5 is too small: expected at least 257. There are 257 to begin with."),
        (1_000_001, "1,000,001 is too large: expected at most 1,000,000. No page shows more."),
        (1e20, "1e+20 is too large: expected at most 1,000,000. No page shows more."),
        (math.inf, "inf is too large: expected at most 1,000,000. No page shows more."),
        (4_096.5, "4,096.5 is not a whole number."),
    ],
)
def test_an_invalid_number_is_refused_with_the_limit_and_its_reason(value, problem):
    assert LIMITS.problem_with(value) == problem


@pytest.mark.parametrize("value", [257, 4_096.0, 1_000_000])
def test_both_limits_and_values_between_them_are_valid(value):
    assert LIMITS.problem_with(value) is None


@pytest.mark.parametrize(
    ("text", "tokens", "notes"),
    [
        ("", (), ["Read as no special token."]),
        ("[CLS]", ("[CLS]",), [r"Read as 1 special token: **\[CLS\]**."]),
        ("a b\nc", ("a b", "c"), ["Read as 2 special tokens: **a␣b**, **c**."]),
        ("\n\na\n\n", ("a",), ["Read as 1 special token: **a**."]),
        (
            "a\n \nb\n\t\u3000",
            ("a", "b"),
            [
                "Read as 2 special tokens: **a**, **b**.",
                "Lines 2, 4 hold only spaces and are ignored.",
            ],
        ),
        (
            " a\nb\nc ",
            ("a", "b", "c"),
            [
                "Read as 3 special tokens: **a**, **b**, **c**.",
                "Spaces around the tokens on lines 1, 3 are ignored.",
            ],
        ),
        (
            "a\r\nb ",
            ("a", "b"),
            [
                "Read as 2 special tokens: **a**, **b**.",
                "Spaces around the token on line 2 are ignored.",
            ],
        ),
    ],
)
def test_special_tokens_are_read_one_per_line_with_notes_on_ignored_spaces(text, tokens, notes):
    read = read_special_tokens(text)
    assert read.tokens == tokens
    assert list(read.notes) == notes


def test_only_the_first_of_many_special_tokens_are_named():
    (note,) = read_special_tokens("\n".join(f"t{n}" for n in range(100))).notes
    assert note.startswith("Read as 100 special tokens: **t0**, ")
    assert note.endswith("**t7** and 92 more.")


@given(st.text())
def test_no_special_token_is_empty_or_padded_with_white_space(text):
    read = read_special_tokens(text)
    assert all(token and token == token.strip() for token in read.tokens)
    assert "".join("".join(token.split()) for token in read.tokens) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "tokens", "notes"),
    [
        ("", (), ()),
        ("</w>", ("</w>",), ()),
        ("  ", (), ("Only spaces, so there is no marker.",)),
        (" * ", ("*",), (r"Read as **\***, without the spaces around it.",)),
    ],
)
def test_spaces_around_the_marker_are_ignored(text, tokens, notes):
    read = read_marker(text)
    assert (read.tokens, read.notes) == (tokens, notes)
