"""Errors in patterns are put in plain words: what is wrong, where, and what to write."""

from __future__ import annotations

import pytest
import regex

import bpe_core as bpe
from bpe_core.pretokenizers.pattern_reasons import explain_pattern_error

CASES = [
    ("a(", "the ( at character 2 is not closed"),
    (r"\((a[)(]", "the ( at character 3 is not closed"),
    ("(?<=a", "the ( at character 1 is not closed"),
    ("[]a", "the [ at character 1 is not closed"),
    ("x[^ab", "the [ at character 2 is not closed"),
    ("ab)c", "at character 3 is a ) without a ("),
    ("*a", "at character 1 is a repeat with nothing before it"),
    ("a**", "at character 3 is a second repeat"),
    ("ab{3,1}", "at character 4 is a repeat whose smallest count"),
    ("a\\", "at character 2 is a backslash with nothing after it"),
    (r"a\q", "at character 2 is an escape that does not exist"),
    (r"\x1", "at character 1 is an escape without all its digits"),
    (r"\p{Foo}", "at character 1 is a class of characters that does not exist"),
    (r"\N{NOPE}", "at character 1 is a character's name that does not exist"),
    ("[z-a]", "at character 4 is a range that goes backwards"),
    ("(?~a)", "at character 3 is a (? with an unknown sign"),
    ("(*FOO)", "at character 3 is a (* with an unknown word"),
    ("(?P<1a>x)", "at character 7 is a group's name that is not a word"),
    (r"\2", "at character 1 is a reference to a group that is not there"),
    (r"(a\1)", "at character 3 is a reference to the group that it is in"),
    ("(?i-:a)", "at character 5 is a flag that cannot be set there"),
    ("a{e<=}", "at character 6 is a fuzzy match"),
    (r"\L<x>", "at character 1 is a named list"),
]


@pytest.mark.parametrize(("pattern", "expected"), CASES)
def test_the_reason_says_what_is_wrong_and_where(pattern: str, expected: str) -> None:
    with pytest.raises(bpe.PatternError) as caught:
        bpe.get_pretokenizer(f"regex:{pattern}")
    message = str(caught.value)
    assert expected in message
    assert message.endswith("Correct it, or choose a named pre-tokenizer.")
    with pytest.raises(regex.error) as engine:
        regex.compile(pattern)
    assert str(engine.value).partition(" at position")[0] not in message
    assert "position" not in message


def test_a_reason_that_the_engine_has_added_since_still_has_its_place() -> None:
    error = regex.error("entirely new trouble", "abc", 1)
    assert explain_pattern_error(error) == "at character 1 is something that cannot be read"
    assert (
        explain_pattern_error(regex.error("entirely new trouble"))
        == "it has something that cannot be read"
    )
