"""Pre-tokenizers cut texts at the same places as other libraries."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import groupby, pairwise
from threading import Barrier, BrokenBarrierError

import pytest
import regex
import tiktoken
from hypothesis import given
from tokenizers import Regex
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import WhitespaceSplit

import bpe_core as bpe
from bpe_core.errors import ConfigError, PatternError, PatternTimeoutError
from bpe_core.pretokenizers import PRETOKENIZER_NAMES, Pretokenizer, get_pretokenizer, pretokenizers
from bpe_core.pretokenizers.pretokenizers import explain_pattern_error
from bpe_core.unicode import class_runs, unicode_class
from tests.strategies import hostile_texts

# Copied from tiktoken_ext/openai_public.py.
TIKTOKEN_PATTERNS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k": "|".join(
        [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
}


@cache
def classes() -> Mapping[str, str]:
    """Return the class of every character, in order."""
    found: dict[str, str] = {}
    for start, end in pairwise([*class_runs()[0], 0x110000]):
        name = unicode_class(start)
        assert unicode_class(end - 1) == name
        found |= {chr(c): name for c in range(start, end) if not 0xD800 <= c < 0xE000}
    return found


@cache
def boundary_characters() -> list[str]:
    """Return the first and last of each long run of a class, and all of the other classes."""
    found: list[str] = []
    for name, run in groupby(classes(), classes().__getitem__):
        characters = list(run)
        is_long = name in ("letter", "other")
        found += dict.fromkeys((characters[0], characters[-1])) if is_long else characters
    return found


def tiktoken_split(name: str, text: str, expected: list[str]) -> list[str]:
    """Return tiktoken's pieces of a text, with each expected piece as a token."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += sorted({piece.encode() for piece in expected} - set(tokens))
    encoding = tiktoken.Encoding(
        name,
        pat_str=TIKTOKEN_PATTERNS[name],
        mergeable_ranks={token: rank for rank, token in enumerate(tokens)},
        special_tokens={},
    )
    return [tokens[id].decode(errors="replace") for id in encoding.encode_ordinary(text)]


@pytest.mark.parametrize("name", TIKTOKEN_PATTERNS)
@given(hostile_texts)
def test_named_patterns_cut_texts_like_tiktoken(name: str, text: str) -> None:
    pieces = get_pretokenizer(name).split(text)
    assert tiktoken_split(name, text, pieces) == pieces


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "of"),
    [
        (r"\p{L}", {"upper", "lower", "modifier", "letter"}),
        (r"[\p{Lu}\p{Lt}]", {"upper"}),
        (r"\p{Ll}", {"lower"}),
        (r"\p{Lm}", {"modifier"}),
        (r"\p{N}", {"number"}),
        (r"\p{M}", {"mark"}),
        (r"\s", {"space"}),
    ],
)
def test_every_character_has_the_same_class_as_in_hugging_face(pattern: str, of: set[str]) -> None:
    others = "".join(c for c, name in classes().items() if name not in of)
    without = Replace(Regex(pattern + "+"), "")
    assert without.normalize_str("".join(classes())) == others


def test_unicode_16_is_pinned() -> None:
    sizes = Counter(classes().values())
    assert sum(sizes[name] for name in ("upper", "lower", "modifier", "letter")) == 141_028
    assert sizes["number"] == 1_911
    assert sizes["space"] == 25


def test_whitespace_is_the_same_as_in_hugging_face() -> None:
    text = "".join(f"{c}x" for c in boundary_characters())
    peer = [span for _, span in WhitespaceSplit().pre_tokenize_str(text)]
    assert get_pretokenizer("whitespace").spans(text) == peer


@given(hostile_texts)
def test_words_punctuation_keeps_words_whole_and_separates_punctuation(text: str) -> None:
    for piece in get_pretokenizer("words-punctuation").split(text):
        kinds = {unicode_class(ord(c)) for c in piece if c != "_"}
        assert "space" not in kinds
        assert len(piece) == 1 or "other" not in kinds


@pytest.mark.parametrize("name", [*PRETOKENIZER_NAMES, r"regex:\d+|é"])
@given(hostile_texts)
def test_spans_drop_nothing_but_white_space(name: str, text: str) -> None:
    pretokenizer = get_pretokenizer(name)
    spans = pretokenizer.spans(text)
    assert [text[start:end] for start, end in spans] == pretokenizer.split(text)
    assert all(start < end for start, end in spans)
    dropped, covered = [], 0
    for start, end in [*spans, (len(text), len(text))]:
        assert covered <= start
        dropped.append(text[covered:start])
        covered = end
    if pretokenizer.drops_text:
        assert all(unicode_class(ord(c)) == "space" for c in "".join(dropped))
    else:
        assert not any(dropped)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("hello123", ["hello", "123"]),
        ("a  b ", ["a", " ", " b", " "]),
        ("a\r\n\r\nb", ["a", "\r\n\r", "\n", "b"]),
        ("''s 's", ["''", "s", " '", "s"]),
        ("'stuff", ["'s", "tuff"]),
        ("cafe\u0301!", ["cafe", "\u0301!"]),
        ("x²½", ["x", "²½"]),
        ("a\x85b\ufeffc\x1cd", ["a", "\x85", "b", "\ufeff", "c", "\x1c", "d"]),
        ("", []),
    ],
)
def test_gpt2_cuts_difficult_texts_correctly(text: str, pieces: list[str]) -> None:
    assert get_pretokenizer("gpt2").split(text) == pieces


def test_cl100k_keeps_trailing_white_space_together() -> None:
    assert get_pretokenizer("cl100k").split("a\n  ") == ["a", "\n  "]
    assert get_pretokenizer("cl100k").split("a\n  b") == ["a", "\n", " ", " b"]


def test_none_leaves_a_document_whole() -> None:
    assert get_pretokenizer("none").split("to be\nor") == ["to be\nor"]
    assert get_pretokenizer("none").split("") == []


def test_spaces_around_a_custom_pattern_are_kept() -> None:
    pretokenizer = get_pretokenizer("regex:  a ")
    assert pretokenizer.name == "regex:  a "
    assert pretokenizer.split("x  a y") == ["x", "  a ", "y"]


def test_empty_matches_are_ignored() -> None:
    assert get_pretokenizer("regex:x*").split("aaxb") == ["aa", "x", "b"]


def test_the_spans_of_a_backward_pattern_are_in_order() -> None:
    assert get_pretokenizer("regex:(?r)a").spans("aba") == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.slow
def test_a_runaway_pattern_is_stopped_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretokenizers, "_SECONDS", 1.0)
    pretokenizer = get_pretokenizer(r"regex:(?:a|a)+c")
    message = r"40 characters within 1 seconds of processor time.*possessive"
    with pytest.raises(PatternTimeoutError, match=message):
        pretokenizer.spans("a" * 40)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", r"the \( at character 1 is not closed"),
        ("[a", r"the \[ at character 1 is not closed"),
        (r"\p{Foo}", "a class of characters that does not exist"),
        ("", "is empty"),
        ("a{100000000}", "repeats too often"),
        ("(?>" * 28 + "a+" + ")+" * 28, "repeats 28 groups; at most 12"),
        ("(?x)" + "(" * 13 + "a" + ") # why\n (?#not)*" * 13, "repeats 13 groups"),
        ("(?i)" + ")" + "#(?#" * 400, "is not a valid regular expression"),
        ("(?:a{900}){900}", "repeats too often"),
        ("a{" + "9" * 1_500 + "}", "repeats too often"),
        ("(?R)", "calls itself"),
        ("(a(?1))", "calls itself"),
        ("(" * 900 + ")" * 900, "cannot be compiled"),
        ("x" * 3_000, "at most 2,000"),
    ],
)
def test_the_error_for_an_invalid_pattern_names_the_fault(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        get_pretokenizer(f"regex:{pattern}")


@pytest.mark.slow
def test_a_pattern_that_the_engine_gives_up_on_raises_an_error() -> None:
    with pytest.raises(PatternError, match=r"compiles, but no text .* \(MemoryError"):
        get_pretokenizer("regex:(?<=b{e<=1}|a)*").spans("aab")


def test_only_one_thread_at_a_time_changes_the_warning_filters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = Barrier(2)
    met: list[int] = []
    compiled = regex.compile

    def compiled_together(pattern: str) -> regex.Pattern[str]:
        with suppress(BrokenBarrierError):  # each wait times out
            met.append(both.wait(timeout=0.1))
        return compiled(pattern)

    monkeypatch.setattr(regex, "compile", compiled_together)
    with ThreadPoolExecutor(2) as threads:
        assert len(list(threads.map(Pretokenizer, ["regex:a", "regex:b"]))) == 2
    assert met == []


@pytest.mark.parametrize("pattern", [r"\(?R\)", r"\{9999\}", "[[a]"])
def test_harmless_patterns_that_look_dangerous_are_accepted(pattern: str) -> None:
    assert get_pretokenizer(f"regex:{pattern}").split("ab") in (["ab"], ["a", "b"])


def test_the_error_for_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(ConfigError, match=r"'gpt3'.*gpt2, cl100k, o200k.*regex:PATTERN"):
        get_pretokenizer("gpt3")


@pytest.mark.slow
def test_a_long_run_of_one_character_is_cut_in_linear_time() -> None:
    for character in "a1 !é\u0301\n":
        run = character * 300_000
        for name in PRETOKENIZER_NAMES:
            assert "".join(get_pretokenizer(name).split(run)) in (run, "")


def test_pretokenizers_of_the_same_name_are_equal() -> None:
    assert Pretokenizer("gpt2") == get_pretokenizer("gpt2") != get_pretokenizer("o200k")
    assert len({Pretokenizer("gpt2"), Pretokenizer("gpt2")}) == 1


def test_the_unicode_version_differs_from_pythons() -> None:
    # This is why the classes are embedded: U+1C89 is a letter only since Unicode 16.
    assert unicodedata.category("\u1c89") == "Cn"
    assert unicode_class(0x1C89) == "upper"


# Errors in patterns are put in plain words


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
