"""The tokenizer, its segments and its cache, on vocabularies made by hand and on GPT-2's."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given

import bpe_core as bpe
from bpe_core.pretokenizers import SPACE_ADDING
from bpe_core.tokenizer import END_OF_TEXT, Tokenizer, explain_word
from bpe_core.tokenizer.encoding import WordCache
from bpe_core.tokenizer.segments import build_segments
from tests.strategies import texts


def hug_tokenizer(**changes: object) -> bpe.Tokenizer:
    """Return a tokenizer of g h i n u, the marker, and the first merges of the hug example."""
    given: dict[str, object] = {
        "vocab": {
            **dict(enumerate([b"g", b"h", b"i", b"n", b"u", b"</w>"])),
            6: b"g</w>",
            7: b"ug</w>",
            8: b"hug</w>",
        },
        "merges": [(0, 5, 6), (4, 6, 7), (1, 7, 8)],
        "pretokenizer": "whitespace",
        "base": "characters",
        "end_of_word": "</w>",
        "counts": [18, 10, 10],
    }
    return bpe.Tokenizer(**{**given, **changes})  # pyright: ignore[reportArgumentType]


def ab_tokenizer(
    vocab: Mapping[int, bytes] = {0: b"a", 1: b"b"}, **changes: object
) -> bpe.Tokenizer:
    given: dict[str, object] = {"vocab": vocab, "merges": [], "pretokenizer": "none"}
    return bpe.Tokenizer(**{**given, **changes})  # pyright: ignore[reportArgumentType]


# Encoding and decoding


def test_empty_text_encodes_to_no_ids() -> None:
    assert bpe.gpt2().encode("") == []
    assert bpe.gpt2().decode([]) == ""
    assert bpe.gpt2().segments("") == []
    assert bpe.gpt2().explain("") == []


def test_words_end_with_the_marker_and_decode_to_single_spaces() -> None:
    tokenizer = hug_tokenizer()
    ids = tokenizer.encode("hug  ugh\n")
    assert ids == [8, 4, 0, 1, 5]
    assert tokenizer.decode(ids) == "hug ugh"


def test_a_letter_sequence_that_spells_the_marker_is_not_the_marker() -> None:
    tokenizer = bpe.Tokenizer(
        vocab={0: b"<", 1: b"/", 2: b"w", 3: b">", 4: b"</w>", 5: b"</", 6: b"</w", 7: b"</w>"},
        merges=[(0, 1, 5), (5, 2, 6), (6, 3, 7)],
        pretokenizer="whitespace",
        base="characters",
        end_of_word="</w>",
        end_of_word_id=4,
    )
    assert tokenizer.encode("</w> w") == [7, 4, 2, 4]
    assert tokenizer.decode([7, 4, 2, 4]) == "</w> w"
    assert 4 in tokenizer.table.ending_word
    assert 7 not in tokenizer.table.ending_word


def test_a_special_token_is_text_unless_it_is_allowed() -> None:
    tokenizer = bpe.gpt2()
    text = f"a{END_OF_TEXT}b"
    assert 50256 not in tokenizer.encode(text)
    assert tokenizer.encode(text, allowed_special="all") == [64, 50256, 65]
    assert tokenizer.encode(text, allowed_special=[END_OF_TEXT]) == [64, 50256, 65]
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.decode([64, 50256, 65]) == text


def test_decoding_adds_no_space_between_a_word_and_a_special_token() -> None:
    vocab = {**hug_tokenizer().vocab, 9: b"[SEP]"}
    tokenizer = hug_tokenizer(vocab=vocab, special_tokens={"[SEP]": 9})
    assert tokenizer.decode([8, 9, 8, 8]) == "hug[SEP]hug hug"


def test_the_error_for_a_lone_surrogate_has_its_position() -> None:
    for method in (bpe.gpt2().encode, bpe.gpt2().segments, bpe.gpt2().explain):
        with pytest.raises(bpe.InvalidTextError, match=r"U\+D83D, at character 2"):
            method("ab\ud83d")


def test_the_error_names_an_unknown_character_its_position_and_a_remedy() -> None:
    with pytest.raises(
        bpe.UnknownSymbolError,
        match=r"5 characters\) has no 'é' \(U\+00E9\), found at character 4 of .* offset 4.*skip",
    ):
        hug_tokenizer().encode("hug é")


def test_the_error_for_an_unknown_byte_names_its_character() -> None:
    tokenizer = ab_tokenizer({0: b"\xc3", 1: b"a"})
    with pytest.raises(bpe.UnknownSymbolError, match=r"byte 0xA9 of 'é'.*character 1 .*offset 2"):
        tokenizer.encode("aé")


def test_unknown_symbols_can_be_skipped_and_merges_never_cross_them() -> None:
    tokenizer = hug_tokenizer()
    assert tokenizer.encode("hu?g é", errors="skip") == [1, 4, 6, 5]
    assert tokenizer.encode("hug", errors="skip") == [8]
    assert [segment.id for segment in tokenizer.segments("hu?g")] == [1, 4, None, 6]


def test_the_error_for_an_id_outside_the_vocabulary_has_its_position() -> None:
    for ids in ([1, 50257], np.array([1, 50257]), iter([1, 50257])):
        with pytest.raises(bpe.InvalidTokenIdError, match=r"id 50257 \(number 2 of 2.*0 to 50256"):
            bpe.gpt2().decode(ids)
    with pytest.raises(bpe.InvalidTokenIdError, match="-1"):
        hug_tokenizer().decode([-1])


def test_half_a_character_decodes_to_a_replacement_or_raises() -> None:
    half = bpe.gpt2().encode("🙂")[:1]
    assert bpe.gpt2().decode(half) == "\ufffd"
    assert bpe.gpt2().decode_bytes(half) == "🙂".encode()[: len(bpe.gpt2().vocab[half[0]])]
    with pytest.raises(bpe.TokenizationError, match="decode_bytes"):
        bpe.gpt2().decode(half, errors="strict")


# Explaining


def test_explaining_names_each_merge_and_the_symbols_after_it() -> None:
    (first, second) = hug_tokenizer().explain("hug gi")
    assert (first.start, first.text, first.symbols) == (0, "hug", (1, 4, 0, 5))
    assert [(step.merge.rank, step.symbols) for step in first.steps] == [
        (0, (1, 4, 6)),
        (1, (1, 7)),
        (2, (8,)),
    ]
    assert first.ids == (8,)
    assert (second.start, second.steps) == (4, ())
    assert second.ids == (0, 2, 5)


def test_explain_word_does_not_pretokenize() -> None:
    table = bpe.gpt2().table
    (word,) = explain_word("hug  hugs", table)
    assert bpe.gpt2().pretokenizer.split("hug  hugs") != ["hug  hugs"]
    assert b"".join(bpe.gpt2().vocab[id] for id in word.ids) == b"hug  hugs"
    assert [step.merge.rank for step in explain_word(" iterator", table)[0].steps] == [
        step.merge.rank for step in bpe.gpt2().explain(" iterator")[0].steps
    ]
    hug = hug_tokenizer()
    assert [each.text for each in explain_word("né h", hug.table)] == ["n", "h"]


def test_explaining_raises_for_unknown_symbols_or_skips_them() -> None:
    with pytest.raises(bpe.UnknownSymbolError):
        hug_tokenizer().explain("é")
    around = hug_tokenizer().explain("né hé?g", errors="skip")
    assert [(each.start, each.text, each.ids) for each in around] == [
        (0, "n", (3,)),
        (2, "", (5,)),
        (3, "h", (1,)),
        (6, "g", (6,)),
    ]


# Structure


def test_the_parts_of_a_token_are_the_two_ids_of_its_merge() -> None:
    tokenizer = hug_tokenizer()
    assert tokenizer.table.parts.get(8) == (1, 7)
    assert tokenizer.table.parts.get(1) is None
    assert [id for id in tokenizer.vocab if id in tokenizer.table.ending_word] == [5, 6, 7, 8]
    assert dict(tokenizer.base_ids) == {b"g": 0, b"h": 1, b"i": 2, b"n": 3, b"u": 4}
    assert [merge.count for merge in tokenizer.merges] == [18, 10, 10]


def test_truncating_keeps_ids_and_drops_later_merges() -> None:
    tokenizer = hug_tokenizer()
    shorter = tokenizer.truncated(1)
    assert shorter.encode("hug") == [1, 4, 6]
    assert shorter.vocab_size == 7
    assert shorter.merges == tokenizer.merges[:1]
    assert tokenizer.truncated(3) == tokenizer
    assert tokenizer.truncated(0).encode("hug") == [1, 4, 0, 5]
    for n_merges in (-1, 4):
        with pytest.raises(bpe.OutOfRangeError, match="from 0 to 3"):
            tokenizer.truncated(n_merges)


def test_truncating_keeps_a_token_that_an_earlier_merge_also_makes() -> None:
    tokenizer = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc", 5: b"abc"},
        merges=[(1, 2, 4), (0, 1, 3), (0, 4, 5), (3, 2, 5)],
        pretokenizer="none",
    )
    assert tokenizer.truncated(3).vocab == tokenizer.vocab
    assert tokenizer.truncated(3).encode("abcab") == [5, 3]
    assert 5 not in tokenizer.truncated(2).vocab


def test_truncating_keeps_a_special_token_that_a_merge_also_makes() -> None:
    tokenizer = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"ab", 3: b"aba"},
        merges=[(0, 1, 2), (2, 0, 3)],
        pretokenizer="none",
        special_tokens={"ab": 2},
    )
    shorter = tokenizer.truncated(0)
    assert shorter.encode("aba") == [0, 1, 0]
    assert shorter.encode("aba", allowed_special="all") == [2, 0]


def test_the_attributes_of_a_tokenizer_are_immutable() -> None:
    tokenizer = hug_tokenizer()
    for mapping in (tokenizer.vocab, tokenizer.special_tokens, tokenizer.base_ids):
        with pytest.raises(TypeError):
            mapping[1] = b"x"  # pyright: ignore[reportIndexIssue]
    with pytest.raises(AttributeError):
        tokenizer.vocab = {}  # pyright: ignore[reportAttributeAccessIssue]


def test_a_tokenizer_is_unaffected_by_changes_to_its_arguments() -> None:
    vocab = {0: b"a", 1: b"b"}
    tokenizer = ab_tokenizer(vocab)
    vocab[0] = b"b"
    assert tokenizer.decode([0]) == "a"


def test_different_tokenizers_have_different_fingerprints() -> None:
    tokenizer = hug_tokenizer()
    assert tokenizer == hug_tokenizer(counts=None)
    different = [
        tokenizer.truncated(2),
        hug_tokenizer(pretokenizer="gpt2"),
        hug_tokenizer(vocab={**tokenizer.vocab, 9: b"[SEP]"}, special_tokens={"[SEP]": 9}),
        hug_tokenizer(merges=[(0, 5, 6), (4, 6, 7)], counts=None),
    ]
    assert len({tokenizer, hug_tokenizer(), *different}) == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"merges": [(4, 6, 7), (0, 5, 6), (1, 7, 8)]}, "6 is neither in the alphabet"),
        ({"merges": [(0, 5, 6), (4, 6, 8)]}, "A merge makes the bytes"),
        ({"merges": [(0, 5, 6), (0, 5, 6)], "counts": None}, "join the same pair"),
        ({"merges": [(0, 5, 99)]}, "None"),
        ({"counts": [1]}, "1 counts for 3 merges"),
        ({"special_tokens": {"[SEP]": 99}}, "special token"),
        ({"special_tokens": {"": 0}}, "special token"),
        ({"special_tokens": {"\ud800": 0}}, "special token"),
        ({"end_of_word": "</s>"}, "has no token '</s>'"),
        ({"end_of_word": None, "end_of_word_id": 5}, "no end_of_word is given"),
        ({"pretokenizer": "gpt3"}, "There is no pre-tokenizer"),
        ({"vocab": {**hug_tokenizer().vocab, 9: b"g"}}, "both represent the symbol b'g'"),
    ],
)
def test_inconsistent_arguments_are_rejected(changes: dict[str, object], message: str) -> None:
    with pytest.raises(bpe.ConfigError, match=message):
        hug_tokenizer(**{"counts": None, **changes})


# Speed, as ratios that a quadratic algorithm far exceeds


@pytest.mark.parametrize("name", sorted(SPACE_ADDING))
def test_a_space_is_added_only_by_tokenizers_that_spell_characters_in_bytes(name: str) -> None:
    table = bpe.Tokenizer(vocab={0: b"a"}, merges=[], pretokenizer="none").table
    with pytest.raises(bpe.ConfigError, match="this vocabulary has no such bytes"):
        bpe.Tokenizer.from_table(table, name)


def test_encoding_takes_time_proportional_to_the_number_of_letters() -> None:
    def seconds(n: int) -> float:
        start = time.process_time()
        bpe.gpt2().encode("a" * n)
        return time.process_time() - start

    bpe.gpt2().encode("warm")
    assert seconds(100_000) < 60 * max(seconds(10_000), 0.004)


def test_decoding_takes_time_proportional_to_the_number_of_ids() -> None:
    def seconds(n: int) -> float:
        ids = [464, 2068] * n
        start = time.process_time()
        bpe.gpt2().decode(ids)
        return time.process_time() - start

    seconds(500_000)  # loads the kernel that decodes long lists
    assert seconds(500_000) < 60 * max(seconds(50_000), 0.004)


# Segments built in bulk equal those built with the constructor


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


# The size of the word caches is bounded


def test_a_full_cache_is_cleared_and_still_returns_every_word() -> None:
    asked: list[str] = []

    def length(word: str) -> int:
        asked.append(word)
        return len(word)

    lengths = WordCache(length, max_words=3)
    assert [lengths[word] for word in ("a", "bb", "ccc", "a", "dddd", "a")] == [1, 2, 3, 1, 4, 1]
    assert asked == ["a", "bb", "ccc", "dddd", "a"]
    assert set(lengths) == {"dddd", "a"}


def test_a_long_word_is_not_cached() -> None:
    lengths = WordCache(len)
    assert lengths["a" * 201] == 201
    assert lengths["a" * 200] == 200
    assert list(lengths) == ["a" * 200]


def test_a_tokenizer_caches_fewer_layouts_than_ids() -> None:
    digits = {digit: bytes([48 + digit]) for digit in range(10)}
    tokenizer = Tokenizer(vocab={**digits, 10: b" "}, merges=[], pretokenizer="gpt2")
    text = " ".join(map(str, range(10_000, 25_000)))
    assert b"".join(segment.token for segment in tokenizer.segments(text)) == text.encode()
    assert (
        len(tokenizer._encoder.word_layouts) <= 10_000 < len(tokenizer._encoder.word_ids) == 15_000
    )
