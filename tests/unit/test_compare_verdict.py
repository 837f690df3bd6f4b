"""The verdict says gains, losses and ties, each with the core's own figures."""

from __future__ import annotations

import pytest

from bpe_core.comparison.comparison import compare
from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import TrainingConfig
from ui.compare.verdict import (
    _vocabulary_in_words,
    figure_rows,
    others_aside,
    verdict_aside,
    verdict_sentence,
)

CODE = "def countdown(n):\n        while n > 0:\n            yield n\n            n -= 1\n" * 20
PROSE = "It was a bright cold day in April, and the clocks were striking thirteen."


def words(sentence: list[tuple[str, bool]]) -> str:
    return "".join(text for text, _ in sentence)


@pytest.fixture(scope="module")
def small() -> Tokenizer:
    return train(Corpus.from_text(CODE), TrainingConfig(vocab_size=400)).tokenizer


def test_a_gain_is_said_with_its_share(small: Tokenizer) -> None:
    comparison = compare(Corpus.from_text(CODE), [small, gpt2()])
    sentence = verdict_sentence(comparison, "On held-out text")
    share = 100 * (1 - comparison.rows[0].n_tokens / comparison.rows[1].n_tokens)
    assert share > 1
    assert f"{share:.1f}% fewer tokens" in words(sentence)
    assert [bold for _, bold in sentence] == [False, True, False]
    assert "The gain is in" in verdict_aside(comparison)


def test_a_few_others_are_named_and_many_are_counted(small: Tokenizer) -> None:
    cuts = [small.truncated(n) for n in (0, 5, 10, 15, 20, small.n_merges)]
    comparison = compare(Corpus.from_text(CODE), [small, gpt2(), *cuts])
    names = ["Yours", "GPT-2", *(f"cut {n}" for n in range(6))]
    assert (
        others_aside(comparison, names, 1) == "Of the 6 others: fewer tokens than 5, as many as 1."
    )
    few = compare(Corpus.from_text(CODE), [small, gpt2(), *cuts[4:]])
    aside = others_aside(few, names[:4], 1)
    assert "than cut 0" in aside
    assert "as many as cut 1" in aside


def test_a_loss_is_said_as_a_loss(small: Tokenizer) -> None:
    comparison = compare(Corpus.from_text(PROSE), [small, gpt2()])
    assert "more tokens than GPT-2" in words(verdict_sentence(comparison, "On your text"))
    aside = verdict_aside(comparison)
    assert "The loss is in words and numbers" in aside
    assert "GPT-2 keeps more words whole" in aside
    assert figure_rows(comparison)[0].better == (1,)


def test_a_tie_has_no_winner_and_no_dot() -> None:
    comparison = compare(Corpus.from_text(PROSE), [gpt2(), gpt2()])
    sentence = words(verdict_sentence(comparison, "On held-out text"))
    assert sentence == (
        "On held-out text yours needs as many tokens as GPT-2, "
        "with a vocabulary of about the same size."
    )
    assert verdict_aside(comparison).startswith("Both keep ")
    assert all(row.better == () for row in figure_rows(comparison))


def test_text_that_no_token_stands_for_is_said_and_takes_the_dots_away() -> None:
    config = TrainingConfig(
        vocab_size=20,
        pretokenizer="whitespace",
        base="characters",
        alphabet="seen",
        special_tokens=(),
    )
    tokenizer = train(Corpus.from_text("hug hugs pug"), config).tokenizer
    comparison = compare(Corpus.from_text("hug pug Ω"), [tokenizer, gpt2()])
    aside = verdict_aside(comparison)
    assert "2 bytes that its alphabet lacks" in aside
    assert "2 bytes of white space that its pre-tokenizer drops" in aside
    rows = {row.name: row for row in figure_rows(comparison)}
    assert rows["Tokens"].better == ()
    assert rows["Bytes in no token"].figures == ("4", "0")
    assert rows["Bytes in no token"].better == (1,)


def test_a_text_that_cannot_be_spelled_wins_nothing() -> None:
    config = TrainingConfig(
        vocab_size=20,
        pretokenizer="whitespace",
        base="characters",
        alphabet="seen",
        end_of_word="</w>",
        special_tokens=(),
    )
    tokenizer = train(Corpus.from_word_counts({"hug": 10, "ugg": 5}), config).tokenizer
    comparison = compare("zzz yyy www", [tokenizer, gpt2()])
    sentence = verdict_sentence(comparison, "On your text")
    assert words(sentence) == "On your text yours cannot spell 81.8% of the text."
    aside = verdict_aside(comparison)
    assert "gain" not in aside
    assert "yours 0.0%" in aside
    spelled = compare("hug ugg", [tokenizer, gpt2()])
    assert words(verdict_sentence(spelled, "On your text")) == (
        "On your text yours leaves out 14.3% of the text: its pre-tokenizer drops white space."
    )


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.25, "4.0 times the size"),
        (0.95, "1.1 times the size"),
        (0.96, "of about the same size"),
        (1.04, "of about the same size"),
        (1.25, "80% of the size"),
        (1.74, "57% of the size"),
        (1.75, "about half the size"),
        (2.4, "about half the size"),
        (2.6, "about a third the size"),
        (4, "about a quarter the size"),
        (8, "about an eighth the size"),
        (12.3, "about a twelfth the size"),
        (12.6, "about 1/13 the size"),
        (1_300, "about 1/1,300 the size"),
    ],
)
def test_a_vocabulary_is_sized_in_words(ratio: float, words: str) -> None:
    assert _vocabulary_in_words(ratio) == words


def test_a_difference_too_small_for_percent_is_said_in_tokens_and_the_right_way_round() -> None:
    more = Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"x", 3: b"ab"}, merges=[(0, 1, 3)], pretokenizer="none"
    )
    fewer = more.truncated(0)
    corpus = Corpus.from_text("ab" + "x" * 4_000)
    gain = words(verdict_sentence(compare(corpus, [more, fewer]), "On your text"))
    loss = words(verdict_sentence(compare(corpus, [fewer, more]), "On your text"))
    assert "yours needs 1 fewer token than GPT-2" in gain
    assert "yours needs 1 more token than GPT-2" in loss
    corpus = Corpus.from_text("abab" + "x" * 8_000)
    assert "2 fewer tokens than" in words(
        verdict_sentence(compare(corpus, [more, fewer]), "On your text")
    )


def test_white_space_alone_has_no_figures_for_words(small: Tokenizer) -> None:
    comparison = compare(Corpus.from_text(" \n "), [small, gpt2()])
    rows = {row.name: row for row in figure_rows(comparison)}
    assert rows["Words kept whole"].figures == ("–", "–")
    assert "words" not in verdict_aside(comparison).replace("words and numbers", "")
