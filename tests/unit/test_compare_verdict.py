"""The verdict states gains, losses and ties, each with the core's own figures."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import Any

import pytest

import bpe_core
import bpe_core as bpe
from bpe_core.comparison import (
    Blocks,
    TextPart,
    TokenSaving,
)
from bpe_core.corpus import HeldOut
from ui.compare.comparison_charts import part_dots
from ui.compare.figures import figure_rows
from ui.compare.verdict import differences_csv, rival_rows, shown_parts
from ui.compare.wording import (
    HELD_OUT,
    disagreement,
    folder_words,
    is_fair,
    no_verdict,
    strongest,
    text_words,
    uncovered_words,
    verdict_sentence,
)
from ui.tokenizers import Member

CODE = "def countdown(n):\n        while n > 0:\n            yield n\n            n -= 1\n" * 20
BLIND = bpe.train(
    ["hug hugs pug"],
    bpe.TrainingConfig(20, pretokenizer="whitespace", base="characters", alphabet="seen"),
).tokenizer
PROSE = "It was a bright cold day in April, and the clocks were striking thirteen.\n" * 40


def words(sentence: list[tuple[str, bool]]) -> str:
    return "".join(text for text, _ in sentence)


def said(comparison: bpe.Comparison) -> str:
    return words(
        verdict_sentence(comparison, comparison.gain(), "On your text", own_name="Your tokenizer")
    )


def members(*encoders: bpe.Tokenizer, names: Sequence[str] = ("Yours", "GPT-2")) -> list[Member]:
    return [Member(name, name, each, "") for name, each in zip(names, encoders, strict=True)]


@pytest.fixture(scope="module")
def small() -> bpe.Tokenizer:
    return bpe.train(bpe.Corpus.from_text(CODE), bpe.TrainingConfig(vocab_size=400)).tokenizer


def several(text: str) -> bpe.Corpus:
    """Make a corpus of enough documents for an interval."""
    return bpe.Corpus.from_documents([text * (1 + n % 3) for n in range(30)])


def test_a_figure_on_one_text_is_said_without_an_interval(small: bpe.Tokenizer) -> None:
    sentence = said(bpe.compare(bpe.Corpus.from_text(CODE), [small, bpe.gpt2()]))
    assert "fewer tokens than GPT-2, with" in sentence
    assert "interval" not in sentence
    assert "nan" not in sentence


def test_a_gain_is_said_with_its_share(small: bpe.Tokenizer) -> None:
    comparison = bpe.compare(several(CODE), [small, bpe.gpt2()])
    sentence = verdict_sentence(
        comparison, comparison.gain(), "On held-out text", own_name="The example"
    )
    share = comparison.verdict().percent_fewer_tokens
    assert share > 1
    assert f"On held-out text, the example needs {share:.1f}% fewer tokens" in words(sentence)
    assert [bold for _, bold in sentence[:3]] == [False, True, False]
    whole = comparison.gain().whole
    interval = f"95% interval {whole.low:.1f}–{whole.high:.1f}% over documents"
    assert f"GPT-2 ({interval}), with" in words(sentence)


def test_the_strongest_other_has_the_fewest_tokens_and_leaves_nothing_out(
    small: bpe.Tokenizer,
) -> None:
    others = [bpe.gpt2().truncated(0), bpe.gpt2(), small.truncated(9)]
    comparison = bpe.compare(bpe.Corpus.from_text(PROSE), [small, *others])
    assert strongest(comparison) == 2
    comparison = bpe.compare(bpe.Corpus.from_text(PROSE), [small, BLIND, bpe.gpt2().truncated(0)])
    assert comparison.rows[1].n_tokens < comparison.rows[2].n_tokens
    assert strongest(comparison) == 2
    assert strongest(bpe.compare(bpe.Corpus.from_text(PROSE), [small, BLIND])) == 1


def test_each_other_tokenizer_has_a_row_with_its_figure_and_interval(small: bpe.Tokenizer) -> None:
    comparison = bpe.compare(several(PROSE), [small, bpe.gpt2().truncated(0), bpe.gpt2()])
    gains = [comparison.gain(0, place) for place in (1, 2)]
    shelf = members(
        small, bpe.gpt2().truncated(0), bpe.gpt2(), names=("Yours", "<b>bytes</b>", "GPT-2")
    )
    rows = rival_rows(shelf, comparison, gains)
    assert [row.name for row in rows] == ["GPT-2", "<b>bytes</b>"]
    assert [row.place for row in rows] == [2, 1]
    assert rows[0].figure == f"{-gains[1].whole.percent_fewer:,.1f}% more"
    assert rows[0].low == gains[1].whole.low
    assert rows[1].percent == gains[0].whole.percent_fewer > 0
    assert rows[0].tokens == f"{comparison.rows[2].n_tokens:,}"
    one_text = bpe.compare(bpe.Corpus.from_text(PROSE), [small, bpe.gpt2()])
    (row,) = rival_rows(members(small, bpe.gpt2()), one_text, [one_text.gain()])
    assert (row.low, row.high, row.interval) == (None, None, "")
    assert row.percent is not None
    assert [each.tokens for each in rival_rows(shelf)] == ["", ""]


def test_a_tokenizer_that_needs_as_many_tokens_everywhere_has_no_direction(
    small: bpe.Tokenizer,
) -> None:
    for corpus in (several(PROSE), bpe.Corpus.from_text(PROSE)):
        same = bpe.compare(corpus, [small, small])
        (row,) = rival_rows(members(small, small), same, [same.gain()])
        assert (row.figure, row.interval) == ("as many", "")


def test_folders_that_go_the_other_way_are_named() -> None:
    fewer = TokenSaving(TextPart("all", 90, 100, 50, 10.0, 8.0, 12.0), ())
    more = TokenSaving(TextPart("all", 105, 100, 30, -5.0, -9.0, -1.0), ())
    assert folder_words(fewer, more) == (
        "On folders it has never seen: 5.0% more (1.0 to 9.0). It depends on how new your text "
        "will be."
    )
    assert "It depends" not in folder_words(fewer, fewer)


def test_a_loss_is_said_as_a_loss(small: bpe.Tokenizer) -> None:
    comparison = bpe.compare(bpe.Corpus.from_text(PROSE), [small, bpe.gpt2()])
    assert "more tokens than GPT-2" in said(comparison)
    assert figure_rows(comparison)[0].better == (1,)


def test_an_even_use_of_the_vocabulary_alone_is_not_marked_as_best() -> None:
    comparison = bpe.compare(bpe.Corpus.from_text(PROSE), [bpe.gpt2().truncated(0), bpe.gpt2()])
    own, theirs = comparison.rows
    assert own.renyi_efficiency > theirs.renyi_efficiency
    assert own.n_tokens > 3 * theirs.n_tokens
    assert not any(0 in row.better for row in figure_rows(comparison))


def test_a_tie_has_no_winner_and_no_dot() -> None:
    comparison = bpe.compare(bpe.Corpus.from_text(PROSE), [bpe.gpt2(), bpe.gpt2()])
    assert said(comparison) == (
        "On your text, your tokenizer needs as many tokens as GPT-2, "
        "with a vocabulary of about the same size."
    )
    assert all(row.better == () for row in figure_rows(comparison))


def test_text_that_no_token_stands_for_is_said_and_takes_the_dots_away() -> None:
    comparison = bpe.compare("hug pug Ω", [BLIND, bpe.gpt2()])
    aside = uncovered_words(comparison, own_name="Your tokenizer")
    assert "2 bytes that its alphabet lacks" in aside
    assert "2 bytes of white space that its pre-tokenizer drops" in aside
    rows = {row.name: row for row in figure_rows(comparison)}
    assert rows["Tokens"].better == ()
    assert rows["Bytes in no token"].figures == ("4", "0")
    assert rows["Bytes in no token"].better == (1,)


def test_a_text_that_cannot_be_spelled_wins_nothing() -> None:
    comparison = bpe.compare("zzz yyy www", [BLIND, bpe.gpt2()])
    assert said(comparison) == "On your text, your tokenizer cannot spell 81.8% of the text."
    assert not is_fair(comparison)
    assert said(bpe.compare("hug pug", [BLIND, bpe.gpt2()])) == (
        "On your text, your tokenizer leaves out 14.3% of the text: "
        "its pre-tokenizer drops white space."
    )


def test_a_difference_too_small_for_percent_is_said_in_tokens_and_the_right_way_round() -> None:
    more = bpe.Tokenizer(
        vocab={0: b"a", 1: b"b", 2: b"x", 3: b"ab"}, merges=[(0, 1, 3)], pretokenizer="none"
    )
    fewer = more.truncated(0)
    corpus = bpe.Corpus.from_documents(["ab" + "x" * 4_000, *["x"] * 30])
    gain = said(bpe.compare(corpus, [more, fewer]))
    loss = said(bpe.compare(corpus, [fewer, more]))
    assert "about as many tokens as GPT-2: 1 fewer token (95% interval from" in gain
    assert "about as many tokens as GPT-2: 1 more token (95% interval from" in loss
    corpus = bpe.Corpus.from_documents(["abab" + "x" * 8_000, *["x"] * 30])
    assert ": 2 fewer tokens (95% interval from" in said(bpe.compare(corpus, [more, fewer]))


def test_white_space_alone_has_no_figures_for_words(small: bpe.Tokenizer) -> None:
    comparison = bpe.compare(bpe.Corpus.from_text(" \n "), [small, bpe.gpt2()])
    rows = {row.name: row for row in figure_rows(comparison)}
    assert rows["Words kept whole"].figures == ("–", "–")


def test_only_parts_that_disagree_are_named() -> None:
    whole = TextPart("all", 90, 100, 50, 10.0, 8.0, 12.0)
    alike, other = whole._replace(name="b.csv"), whole._replace(name="<b>a.csv")
    other = other._replace(own=105, percent_fewer=-5.0, low=-9.0, high=-1.0)
    gain = TokenSaving(whole, (("file", (other, alike)),))
    assert disagreement(gain) == "In “<b>a.csv” it needs 5.0% more tokens."
    assert disagreement(gain._replace(divisions=(("file", (alike, alike)),))) == ""


def test_an_interval_over_zero_is_no_clear_difference() -> None:
    lines = ["aa bb\n", "bb aa aa\n", "bb bb aa\n", "aa\n", "bb\n"] * 80
    one, two = (
        bpe.Tokenizer(
            vocab={0: b"a", 1: b"b", 2: b" ", 3: b"\n", 4: pair},
            merges=[(n, n, 4)],
            pretokenizer="none",
        )
        for n, pair in ((0, b"aa"), (1, b"bb"))
    )
    comparison = bpe.compare(bpe.Corpus.from_documents([*lines, "aa\n"]), [one, two])
    assert comparison.gain().whole.way == "unclear"
    sentence = said(comparison)
    assert "your tokenizer needs about as many tokens as GPT-2: " in sentence
    interval = r"95% interval from [0-9.]+% more to [0-9.]+% fewer over documents"
    assert re.search(rf" \({interval}\), with ", sentence)


def saving(**kinds: tuple[int, int]) -> TokenSaving:
    """Return the difference of two tokenizers with some tokens of each kind, without intervals."""
    parts = {name.replace("_", " "): counts for name, counts in kinds.items()}
    parts = {
        "all": (sum(own for own, _ in parts.values()), sum(n for _, n in parts.values())),
        **parts,
    }
    whole, *found = (
        TextPart(name, own, theirs, 9, 100 - 100 * own / theirs, math.nan, math.nan)
        for name, (own, theirs) in parts.items()
    )
    return TokenSaving(whole, (("kind", tuple(found)),))


@pytest.mark.parametrize(
    ("gain", "sentence"),
    [
        # Python's language reference against GPT-2.
        (
            saving(
                words=(6125, 5509),
                numbers=(120, 107),
                punctuation=(2071, 2392),
                white_space=(1025, 2853),
            ),
            "All of the difference is on white space and punctuation; on words alone it needs "
            "11.2% more.",
        ),
        (
            saving(words=(900, 1000), numbers=(60, 400), white_space=(500, 600)),
            "",
        ),
        (
            saving(words=(990, 1000), numbers=(30, 400), white_space=(420, 500)),
            "Most of the difference is on numbers and white space; on words alone it needs 1.0% "
            "fewer.",
        ),
        # The other way round, and with as many tokens for words.
        (
            saving(words=(5509, 5509), white_space=(2853, 1025)),
            "All of the difference is on white space; on words alone it needs as many.",
        ),
        # Most tokens are white space, and words save a quarter of it.
        (
            saving(words=(900, 1000), white_space=(1000, 2853)),
            "Most of the difference is on white space; on words alone it needs 10.0% fewer.",
        ),
        # Words carry it too, or save as much.
        (saving(words=(4000, 5509), white_space=(1000, 1025)), ""),
        (saving(words=(700, 1000), white_space=(5000, 10000)), ""),
        (saving(words=(1001, 1000), white_space=(999, 1000)), ""),
        (saving(white_space=(1000, 2853), punctuation=(9, 9)), ""),
    ],
)
def test_what_a_difference_is_on_is_said_if_it_is_not_words(
    gain: TokenSaving, sentence: str
) -> None:
    assert gain.carried_words == sentence


def test_there_is_no_verdict_on_a_placeholder_or_a_short_text() -> None:
    long = bpe.compare(bpe.Corpus.from_text(PROSE), [bpe.gpt2(), bpe.gpt2().truncated(99)]).gain()
    assert (
        no_verdict(
            long, "your text", own_name="Your tokenizer", other="GPT-2", is_placeholder=False
        )
        is None
    )
    found = no_verdict(
        long, "your text", own_name="Your tokenizer", other="GPT-2", is_placeholder=True
    )
    assert found is not None
    assert words(found[0]).startswith("No verdict yet: the text is only an example.")
    short = bpe.compare(
        bpe.Corpus.from_text("hug " * 20), [bpe.gpt2(), bpe.gpt2().truncated(99)]
    ).gain()
    found = no_verdict(
        short, "your text", own_name="Your tokenizer", other="other.json", is_placeholder=False
    )
    assert found is not None
    own, theirs = short.whole.own, short.whole.theirs
    assert own != theirs
    assert words(found[0]) == (
        f"No verdict yet: on your text your tokenizer needs {own} tokens and other.json {theirs}, "
        "and a verdict takes 300 of each."
    )
    assert "Paste about 1,200 more characters" in found[1]
    found = no_verdict(
        short, HELD_OUT, own_name="Your tokenizer", other="GPT-2", is_placeholder=False
    )
    assert found is not None
    assert found[1] == "Train on more text, or hold out more of it."


def test_the_method_is_said_with_what_was_held_out() -> None:
    texts = [f"{n} {PROSE}" for n in range(200)]
    corpus = bpe.Corpus.from_documents(texts, [f"{n // 2}/{n}.txt" for n in range(200)])
    told = Blocks.of(corpus.split(0.2, by="document")[1]).method
    assert told == (
        "95% intervals over whole documents, 2,000 resamples. They answer for new documents from "
        "the same places, not for text from other ones."
    )
    told = Blocks.of(corpus.split(0.3, by="folder")[1]).method
    assert told == (
        "95% intervals over whole folders, 2,000 resamples. They answer for text from new folders, "
        "such as other projects or sources."
    )
    told = Blocks.of(bpe.Corpus.from_text(PROSE * 99).split(0.2)[1]).method
    assert told == (
        "No interval: it takes 20 documents, and there is 1. From within documents that training "
        "saw: all of the held-out text, because there are fewer than 20 documents of its file type "
        "and script. This flatters."
    )
    counts = bpe.Corpus.from_word_counts({"hug": 3, "ugg": 4})
    assert "2 groups of words" in Blocks.of(counts).method


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (HeldOut("document", 30, 0.0), "On documents it has never seen"),
        (HeldOut("document", 30, 0.05), "On documents it has never seen"),
        (HeldOut("document", 30, 0.5), "On held-out text"),
        (HeldOut("document", 1, 1.0), "On held-out ends of the document it has seen"),
        (HeldOut("document", 9, 1.0), "On held-out ends of documents it has seen"),
        (HeldOut("folder:2", 30, 0.0), "On folders it has never seen"),
        (HeldOut("column:<b>", 30, 0.0), "On text with values of “<b>” it has never seen"),
        (HeldOut("word", 30, 0.0), "On held-out text"),
    ],
)
def test_the_sentence_says_what_is_new_about_the_text(how: HeldOut, words: str) -> None:
    assert text_words(HELD_OUT, how) == words
    assert text_words("your text", how) == "On your text"


def test_the_parts_as_csv_are_the_cores_and_run_no_formula() -> None:
    corpus = bpe.Corpus.from_documents(
        [PROSE, CODE] * 20, [f"{'=cmd()' if n % 2 else 'b'}.csv row {n}" for n in range(40)]
    )
    encoders = [bpe.gpt2(), bpe.gpt2().truncated(99), bpe.gpt2().truncated(9)]
    comparison = bpe.compare(corpus, encoders)
    gains = [comparison.gain(0, place) for place in (1, 2)]
    shelf = members(*encoders, names=("Yours", "@two", "three"))
    written = differences_csv(gains, shelf, "ab").decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(written)))
    assert len(rows) == sum(1 + sum(len(parts) for _, parts in gain.divisions) for gain in gains)
    assert {row["against"] for row in rows} == {"'@two", "three"}
    first = rows[0]
    assert (first["by"], int(first["tokens"])) == ("all", gains[0].whole.own)
    assert float(first["95% low"]) == pytest.approx(gains[0].whole.low, rel=1e-4)
    assert first["fingerprint of the other"] == encoders[1].fingerprint
    assert (first["text sha256"], first["bpe_core"]) == ("ab", bpe_core.__version__)
    assert "'=cmd().csv" in {row["part"] for row in rows}


def test_the_chart_holds_the_figures_and_no_name_as_markup() -> None:
    corpus = bpe.Corpus.from_documents([PROSE, CODE], ["<b>x</b>", "b.py"])
    gain = bpe.compare(corpus, [bpe.gpt2(), bpe.gpt2().truncated(99)]).gain()
    parts = shown_parts(gain, "file")
    figure: Any = part_dots(parts, theme="light")
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [dot.x[0] for dot in dots] == [part.percent_fewer for part in parts]
    shown = [*figure.layout.yaxis.ticktext, *(dot.hovertemplate for dot in dots)]
    assert not any("<" in text.removesuffix("<extra></extra>") for text in shown)


def test_rows_of_files_keep_the_names_of_the_files() -> None:
    names = ["all", *(f"mixed.zip/code/usr_lib_python_{n}.py" for n in ("abc", "argparse"))]
    parts = [TextPart(name, 90, 100, 50, 10.0, 8.0, 12.0) for name in names]
    figure: Any = part_dots(parts, theme="light")
    rows = [label.strip() for label in figure.layout.yaxis.ticktext]
    assert len(set(rows)) == 3
    assert rows[1].endswith("_abc.py")
    assert rows[2].endswith("gparse.py")
