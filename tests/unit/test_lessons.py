"""Test the lessons' computations, and that the code they show is the code that runs."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest
import regex
from hypothesis import given

import bpe_core as bpe
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.trainers import (
    learn_parity_reference,
    reference,
    train_picky_reference,
    train_superwords_reference,
)
from tests.strategies import plain_configs, word_counts
from ui.lessons import four_documents, gpt2_cuts, hug_words, parts, showing
from ui.lessons.parts import (
    choose_most_frequent,
    choose_number,
    format_sum,
    format_token,
    pair_name,
    printed,
    source_lines,
)
from ui.lessons.walk import crossing, walk
from ui.look import counted, plain_markdown

HUGS = {"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3}
CHARACTERS = bpe.TrainingConfig(50, base="characters", end_of_word="</w>", special_tokens=())


@given(word_counts, plain_configs)
def test_a_walk_agrees_with_the_trainer_at_every_step(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    run = bpe.train(bpe.Corpus.from_word_counts(words), config)
    walked = walk(words, config)
    assert list(walked.merges) == list(run.merges)
    assert walked.n_start == len(run.tokenizer.vocab) - len({merge.id for merge in run.merges})
    for step in {0, 1, len(run.merges) // 2, len(run.merges)}:
        if step <= len(run.merges):
            assert walked.pair_counts_at(step) == run.pair_counts(step)


@given(word_counts, plain_configs)
def test_the_terms_of_a_pair_add_up_to_its_count(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    for pair, count in walked.pair_counts_at(0).items():
        assert sum(term.times * term.count for term in walked.terms(0, pair)) == count


@given(word_counts, plain_configs)
def test_encoding_step_by_step_ends_with_the_ids_of_the_reference(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    for start in walked.starts:
        steps = walked.encoding_steps(start)
        assert (steps[-1][1] if steps else list(start)) == walked.encode(start)


def test_encoding_a_word_with_an_unknown_symbol_is_refused() -> None:
    assert walk(HUGS, CHARACTERS).base_symbols("bug") is None
    assert walk(HUGS, CHARACTERS).base_symbols("gug") == [0, 4, 0, 5]


def test_training_on_no_words_is_refused() -> None:
    with pytest.raises(bpe.EmptyCorpusError, match="There are no words to learn from"):
        walk({}, CHARACTERS)


@given(word_counts, plain_configs)
def test_the_rules_for_ties_agree_before_the_first_split(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    split = walked.first_split()
    for step in range(len(walked.merges) if split is None else split + 1):
        counts = walked.pair_counts_at(step)
        chosen = {reference.choose_pair(counts, rule) for rule in ("first-seen", "smallest-pair")}
        assert (len(chosen) == 2) == (step == split)


@given(word_counts, plain_configs)
def test_every_pair_as_frequent_as_the_winner_is_a_right_answer(
    words: dict[str, int], config: bpe.TrainingConfig
) -> None:
    walked = walk(words, config)
    asked = choose_most_frequent("Which?", walked, "")
    counts = walked.pair_counts_at(0)
    assert (asked is None) == (len(counts) < 2)
    if asked is not None:
        n_tied = sum(count == max(counts.values()) for count in counts.values())
        assert 1 <= len(asked.right) <= min(n_tied, len(asked.options))
        assert len(asked.options) == min(4, len(counts))


@pytest.mark.parametrize(
    ("right", "others", "options"),
    [
        (3, [1, 2, 9], "1 2 3 9"),
        (3, [3, 3], "3 4 5"),
        (0, [-1, 5], "0 1 2 5"),
        (1_000, [], "1,000 1,001 1,002"),
    ],
)
def test_numbers_to_choose_from_are_distinct_and_in_order(
    right: int, others: list[int], options: str
) -> None:
    asked = choose_number("How many?", right, others, "")
    assert " ".join(option.text for option in asked.options) == options
    assert [asked.options[place].text for place in asked.right] == [f"{right:,}"]


def test_a_sum_names_the_words_that_contribute_to_it() -> None:
    hugs = walk(HUGS, CHARACTERS)
    pair = hugs.find_pair("g", "g")
    assert pair is not None
    assert format_sum(hugs, pair) == "(g, g): ugg 5 + ggi 3 = 8"
    assert format_sum(hugs, hugs.merges[0].pair) == "(g, </w>): hug 10 + ugg 5 + ing 3 = 18"
    twice = walk({"ggg": 4}, CHARACTERS)
    pair = twice.find_pair("g", "g")
    assert pair is not None
    assert format_sum(twice, pair) == "(g, g): ggg 2 × 4 = 8"


@pytest.mark.parametrize(
    "function",
    [
        reference.count_words,
        reference.count_pairs,
        reference.choose_pair,
        reference.apply_merge,
        reference.learn_merges,
        reference.encode_reference,
        train_superwords_reference,
        train_picky_reference,
        learn_parity_reference,
    ],
)
def test_the_code_shown_is_the_source_without_the_doctests(function: object) -> None:
    shown = source_lines(function)  # pyright: ignore[reportArgumentType]
    lines = ["".join(text for text, _ in line) for line in shown.lines]
    source = inspect.getsource(function).rstrip("\n").split("\n")  # pyright: ignore[reportArgumentType]
    start = next(row for row, line in enumerate(source) if not line.strip())
    n_left_out = len(source) - len(lines)
    assert ">>> " in "".join(source[start : start + n_left_out])
    assert lines == [*source[:start], *source[start + n_left_out :]]
    assert not any(">>>" in line for line in lines)
    assert shown.path == f"{function.__module__.replace('.', '/')}.py"


def test_printed_values_spell_out_ids_and_are_short() -> None:
    vocab = {0: b"u", 1: b"g", 2: b"\xc3", 3: "\u202e".encode()}
    assert printed([(0, 1), (2, 3)], vocab) == r"[('u', 'g'), (b'\xc3', '\u202e')]"
    long = printed({(0, 1): {n: n for n in range(99)}})
    assert len(long.split("\n")) == 14
    assert long.endswith("more lines")
    assert format_token(b" the") == "␣the"


# Sentences about any words, compared with what the walks hold


INPUTS = {
    "the lesson's": "This is the Hugging Face Course.\nThis chapter is about tokenization.",
    "one letter": "a",
    "one word": "hug",
    "one letter again and again": "aaaa",
    "words of one letter": "a b a c",
    "runs": "aaaa aa aaa\naaaaaaa a",
    "emoji": "👩‍🚒 🧩🧩 👩‍🚒",
    "accents": "né né née né cafe\u0301",
    "ties": "ab cd ab cd ef",
    "spaces": "a   b  \t a  b \u3000 c  ",
    "contractions": "don't ''s don't ''s 'tis",
    "marker": "</w> a</w> </w>",
    "markup": "<img/src=x> *b* $x$ :red[r] `c`",
    "invisible": "\u202eab\u200b ab\u200b\x00",
    "many symbols": "The quick brown fox jumps over 13 lazy dogs! ABCDEFGHIJKLMNOPQRSTUVWXYZ #%@?",
    "long": "one two three four five six seven eight nine ten eleven twelve " * 30,
    "Japanese": "コーヒーとケーキ。コーヒー",
}

in_table = pytest.mark.parametrize("text", INPUTS.values(), ids=INPUTS)


def with_counts(text: str) -> str:
    return "\n".join(f"{word} {count}" for word, count in Counter(text.split()).items())


def list_documents(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.strip())


@in_table
@pytest.mark.parametrize("marked", [True, False])
def test_the_sentences_on_the_hug_words_are_true_of_any_words(text: str, marked: bool) -> None:
    learned = hug_words.trained(with_counts(text), marked=marked)
    n_merges = len(learned.merges)
    assert ("marker" in showing.first_symbols(learned)) == marked
    assert ("the marker" in showing.size_rule(learned)) == marked
    said = showing.winner(learned)
    counts = Counter(learned.pair_counts_at(0).values())
    if counts:
        assert f" occurs {counted(max(counts), 'time')}, " in said
        assert ("as often as" in said) == (counts[max(counts)] > 1)
    else:
        assert said == "There are no pairs."
    for step in range(n_merges + 1):
        total = len(set("".join(text.split()))) + marked + step
        said = showing.size_sum(learned, step)
        assert said.endswith(f" = **{counted(total, 'token')}**")
        assert sum(int(n) for n in regex.findall(r"\d+", said.partition("=")[0])) == total
    why = "the vocabulary is full" if n_merges == 40 else "no pairs are left"
    assert showing.stopped(learned) == f"It stopped after {counted(n_merges, 'merge')}: {why}."


@in_table
def test_the_winner_without_the_marker_is_stated(text: str) -> None:
    marked, unmarked = (hug_words.trained(with_counts(text), marked=each) for each in (True, False))
    said = showing.winner_without_marker(marked)
    if not unmarked.merges:
        assert said == "Without the marker there are no pairs: each word is one character."
        return
    pair, other = (pair_name(each.merges[0].pair, each.run.vocab) for each in (marked, unmarked))
    wins = "the same pair" if pair == other else plain_markdown(other)
    assert said == f"Without the marker {wins} wins."


@in_table
def test_the_sentences_on_the_four_documents_are_true_of_any_documents(text: str) -> None:
    documents = list_documents(text)
    learned = four_documents.trained(documents)
    n_merges, symbols = len(learned.merges), sorted(set("".join(documents)))
    said = showing.rounds(learned, 15)
    assert said.startswith(f"{counted(n_merges, 'round')} of counting")
    assert ("no pairs were left" in said) == (n_merges < 15)
    n_tokens = len(symbols) + 1 + n_merges
    assert showing.list_size(learned).endswith(f" make **{n_tokens:,} tokens**.")
    n_spaces = sum(character.isspace() for character in symbols)
    unused = showing.unused_symbols(learned)
    assert unused.count(",") == n_spaces  # one after each, the last one before "since"
    assert (" occur in no word" in unused) == (n_spaces > 1)
    assert unused.endswith(["", "needs.", "tokens that no word needs."][min(n_spaces, 2)])
    start = [learned.run.vocab[id].decode() for id in range(learned.n_start)]
    assert start == [*symbols, "</w>"]


@in_table
def test_the_sentences_on_gpt2s_pretokens_are_true_of_any_documents(text: str) -> None:
    learned, other = (
        gpt2_cuts.trained(list_documents(text), tie) for tie in ("first-seen", "smallest-pair")
    )
    n_merges, symbols = len(learned.merges), list(learned.run.base_ids)
    n_start = len(symbols) + 1
    n_room = max(50, n_start + 19) - n_start
    said = showing.room(learned)
    assert said.startswith(
        f"The vocabulary size is {n_start + n_room}. It starts with {n_start} tokens, which leaves "
        f"room for {n_room} merges."
    )
    left = f" After {counted(n_merges, 'merge')} no pairs are left: each piece is one token."
    if not n_merges:
        left = " There are no pairs to merge: each piece is one symbol."
    assert said.endswith("merges." if n_merges == n_room else left)
    said = showing.byte_alphabet(learned)
    assert ("the space last" in said) == (symbols[-1] == b" " and len(symbols) > 1)
    assert (f"{len(symbols)} bytes" in said) == (len(symbols) > 1)
    place, said = showing.first_difference(learned, other)
    a, b = ([each.run.vocab[merge.id] for merge in each.merges] for each in (learned, other))
    assert a[:place] == b[:place]
    assert said.endswith("the same merges." if a == b else f" at merge {place + 1}.")


def test_tokens_over_boundaries_are_counted_and_named_with_the_pieces() -> None:
    config = bpe.TrainingConfig(260, pretokenizer="none", special_tokens=())
    whole = walk({"a dog. a dog.": 1}, config)
    cut = walk({"a": 2, " dog": 998, ".": 1}, bpe.TrainingConfig(259, special_tokens=()))
    over = crossing(whole, get_pretokenizer("gpt2").split)
    assert showing.over_boundaries(over, whole, cut) == (
        "Without cuts 3 of 4 tokens cross a place where GPT-2 cuts, such as “a␣do”. With cuts it "
        "is 0 of 3: no merge crosses a cut. The cut text has 1,001 pieces, words and signs, 3 of "
        "them distinct."
    )
    none = showing.over_boundaries([False] * 4, whole, cut)
    assert none.startswith("Without cuts 0 of 4 tokens cross a place where GPT-2 cuts. With")


def test_a_token_that_ends_within_a_character_crosses_no_boundary() -> None:
    config = bpe.TrainingConfig(256 + 14, pretokenizer="none", special_tokens=())
    learned = walk({"né né né né": 1}, config)
    made = [learned.run.vocab[merge.id] for merge in learned.merges]
    over = dict(zip(made, crossing(learned, get_pretokenizer("gpt2").split), strict=True))
    assert over[b"n\xc3"] is False
    assert any(over.values())


@in_table
def test_the_visitors_words_never_become_markup(text: str) -> None:
    hugs = hug_words.trained(with_counts(text), marked=True)
    said = [
        showing.winner_without_marker(hugs),
        showing.unused_symbols(four_documents.trained(list_documents(text))),
        showing.lacking_bytes(text.split()),
        showing.lacking_characters(sorted(set(text))),
    ]
    for sentence in said:
        bare = regex.sub(r"\\[!-/:-@\[-`{-~]", "", sentence)
        assert not regex.search(r"[<>*$`\[\]]", bare)
        assert not regex.search(r"[\p{Cc}\u202a-\u202e]", sentence)


def test_the_sentences_are_true_of_a_text_cut_to_the_maximum_length() -> None:
    text = parts.cut_text("ab cd " * 1_000)
    learned = gpt2_cuts.trained(list_documents(text), "first-seen")
    assert "no pairs are left" in showing.room(learned)
