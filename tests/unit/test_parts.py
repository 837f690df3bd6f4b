"""Differences by kind, script, type and file add up to the whole; disagreeing parts are named."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import regex

from bpe_core.comparison import blocks as blocks_module
from bpe_core.comparison.blocks import blocks_of
from bpe_core.comparison.comparison import Comparison, compare
from bpe_core.comparison.parts import (
    FEWEST_TOKENS,
    OTHER_SCRIPTS,
    Part,
    gain_of,
)
from bpe_core.comparison.text_map import TOKEN_KINDS
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.samples import load_sample, parallel_texts
from bpe_core.errors import ConfigError
from bpe_core.formats.run_by_tokenizers import ForeignTokenizer
from bpe_core.runs.train import train
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.types import TrainingConfig
from bpe_core.unicode.kinds import group_of, is_letter, script_of
from bpe_core.unicode.script_codes import SCRIPT_GROUPS
from tests.foreign_models import described, word_piece

OWN = train(load_sample("multilingual"), TrainingConfig(600)).tokenizer
ENCODERS: dict[str, Encoder] = {
    "own": OWN,
    "gpt2": gpt2(),
    "bytes": OWN.truncated(0),
    "joined": train(
        load_sample("multilingual"), TrainingConfig(700, pretokenizer="none")
    ).tokenizer,
    "marked": train(
        load_sample("multilingual"),
        TrainingConfig(900, pretokenizer="whitespace", base="characters", end_of_word="</w>"),
    ).tokenizer,
    "foreign": ForeignTokenizer(described(word_piece())),
}
TEXTS = ["カの漢字ー, ー 7!", "naïve ☃ 😀 x2 ①\n\n\tnot ... да нет", "", "\u0301 e\u0301 ﬁ"]
CODE = "def run(n):\n        while n > 0:\n                n -= 1\n        return [n, n]\n"
RUSSIAN = "Шёл дождь, и на улице никого не было; только кошка сидела под крыльцом.\n"
PROSE = "It was a bright cold day in April, and the clocks were striking thirteen.\n"


def naive_counts(text: str, encoder: Encoder) -> tuple[Counter[str], Counter[str]]:
    """Count tokens by kind and script from their segments, one by one."""
    kinds: Counter[str] = Counter()
    scripts: Counter[str] = Counter()
    for segment in encoder.segments(text):
        if segment.id is None:
            continue
        touched = text[segment.start : segment.end] or text[segment.start - 1 : segment.end]
        if regex.search(r"[\p{L}\p{M}]", touched):
            kinds["words"] += 1
        elif regex.search(r"\p{N}", touched):
            kinds["numbers"] += 1
        elif regex.search(r"\P{White_Space}", touched):
            kinds["punctuation"] += 1
        else:
            kinds["white space"] += 1
        letters = Counter(group_of(c) for c in touched if script_of(c) is not None)
        if letters:
            scripts[letters.most_common(1)[0][0]] += 1
        else:
            scripts["other letters" if any(map(is_letter, touched)) else "no letters"] += 1
    return kinds, scripts


@pytest.mark.parametrize("name", ENCODERS)
def test_tokens_are_counted_as_their_segments_say(name: str) -> None:
    encoder = ENCODERS[name]
    documents = [*TEXTS, *(" ".join(text.sentences[:3]) for text in parallel_texts()), CODE]
    comparison = compare(Corpus.from_documents(documents), [encoder])
    kinds: Counter[str] = Counter()
    scripts: Counter[str] = Counter()
    for text in documents:
        of_text = naive_counts(text, encoder)
        kinds += of_text[0]
        scripts += of_text[1]
    (counts,) = comparison.by_block
    assert +named(TOKEN_KINDS, counts.kinds) == kinds
    assert +named(SCRIPT_GROUPS, counts.scripts) == scripts


def named(names: tuple[str, ...], counts: Any) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, n in zip(names, counts.sum(axis=0).tolist(), strict=True):
        found[name] += n
    return found


def corpora() -> dict[str, Corpus]:
    files = [PROSE * 40, RUSSIAN * 60, CODE * 50, "", "x", *(f"tiny {n}\n" for n in range(30))]
    names = ["a.txt", "b.txt", "c.py", "d", "e.md", *(f"rows.csv row {n}" for n in range(30))]
    mixed = Corpus.from_documents(files, names)
    return {
        "files": mixed,
        "held out": mixed.split(0.3, seed=3)[1],
        "one text": Corpus.from_text(RUSSIAN * 30 + CODE * 30),
        "many files": Corpus.from_documents([PROSE] * 50, [f"{n}.t{n}" for n in range(50)]),
        "words": Corpus.from_word_counts(
            {"hug": 50, "да": 30, " 7": 4, "!": 90, "\n": 7} | {f"w{n}": n + 1 for n in range(40)}
        ),
    }


@pytest.mark.parametrize("name", corpora())
@pytest.mark.parametrize("first", ["own", "joined", "foreign"])
def test_the_parts_of_each_division_add_up_to_the_whole(name: str, first: str) -> None:
    comparison = compare(corpora()[name], [ENCODERS[first], gpt2()])
    gain = gain_of(comparison)
    assert (gain.whole.own, gain.whole.theirs) == tuple(row.n_tokens for row in comparison.rows)
    for division, parts in gain.divisions:
        assert sum(part.own for part in parts) == gain.whole.own, division
        assert sum(part.theirs for part in parts) == gain.whole.theirs, division
        for part in parts:
            if part.theirs:
                assert part.percent_fewer == pytest.approx(100 * (1 - part.own / part.theirs))
    verdict = comparison.verdict()
    assert gain.whole.percent_fewer == pytest.approx(verdict.percent_fewer_tokens)


def test_a_mixed_corpus_has_its_disagreeing_parts_named() -> None:
    documents = [PROSE * 60, RUSSIAN * 100, CODE * 150]
    own = train(Corpus.from_text(CODE * 20 + RUSSIAN * 20), TrainingConfig(700)).tokenizer
    corpus = Corpus.from_documents(documents, ["a.txt", "b.txt", "c.py"])
    gain = gain_of(compare(corpus, [own, gpt2()]))
    divisions = {name: {part.name: part for part in parts} for name, parts in gain.divisions}
    assert gain.whole.way == "fewer"
    assert divisions["file"]["a.txt"].way == "more"
    assert divisions["file"]["b.txt"].way == "fewer"
    assert divisions["script"]["Latin letters"].way == "more"
    found = {(division, part.name) for division, part in gain.disagreeing}
    assert {("file", "a.txt"), ("script", "Latin letters"), ("script", "Cyrillic letters")} <= found
    for _, part in gain.disagreeing:
        assert not part.low <= gain.whole.percent_fewer <= part.high


def test_parts_that_are_alike_do_not_disagree() -> None:
    lines = [f"the clocks were striking {word}\n" for word in ("one", "two", "three", "seven")]
    generator = np.random.default_rng(0)
    documents = ["".join(generator.choice(lines, size=200)) for _ in range(4)]
    corpus = Corpus.from_documents(documents, [f"{n}.txt" for n in range(4)])
    gain = gain_of(compare(corpus, [gpt2(), gpt2().truncated(2_000)]))
    assert {part.name for division, part in gain.disagreeing if division == "file"} == set()


def whole(comparison: Comparison) -> Part:
    return gain_of(comparison).whole


def test_an_interval_over_zero_is_unclear_and_of_one_tokenizer_with_itself_is_zero() -> None:
    same = whole(compare(Corpus.from_text(PROSE * 50), [gpt2(), gpt2()]))
    assert (same.percent_fewer, same.low, same.high, same.way) == (0, 0, 0, "unclear")
    clear = whole(compare(Corpus.from_text(PROSE * 50), [gpt2(), gpt2().truncated(100)]))
    assert clear.way == "fewer"
    assert 0 < clear.low <= clear.percent_fewer <= clear.high


def test_short_texts_and_few_blocks_have_not_enough_text() -> None:
    short = gain_of(compare(Corpus.from_text(PROSE * 3), [gpt2(), OWN]))
    assert short.whole.own < FEWEST_TOKENS
    assert not short.has_enough_text
    blocks = Corpus.from_documents([PROSE * 40] * 5).split(0.2)[1]
    few = Corpus(blocks.documents[:4], blocks.names[:4], places=blocks.places[:4])
    assert whole(compare(few, [gpt2(), OWN])).n_blocks == 4
    assert not gain_of(compare(few, [gpt2(), OWN])).has_enough_text
    assert gain_of(compare(Corpus.from_text(PROSE * 40), [gpt2(), OWN])).has_enough_text


def test_small_scripts_are_taken_together_and_one_script_is_no_division() -> None:
    text = PROSE * 200 + RUSSIAN * 100 + "漢字 ελ שלום\n"
    (scripts,) = (
        parts
        for division, parts in gain_of(compare(Corpus.from_text(text), [OWN, gpt2()])).divisions
        if division == "script"
    )
    names = [part.name for part in scripts]
    assert names == ["no letters", "Latin letters", "Cyrillic letters", OTHER_SCRIPTS]
    one = gain_of(compare(Corpus.from_text(PROSE * 200), [OWN, gpt2()]))
    assert "script" not in dict(one.divisions)


def test_a_text_without_tokens_has_no_figure_and_no_parts() -> None:
    gain = gain_of(compare(Corpus.from_text(" \n"), [ENCODERS["foreign"], ENCODERS["foreign"]]))
    assert (gain.whole.own, gain.whole.theirs, gain.divisions) == (0, 0, ())
    assert math.isnan(gain.whole.percent_fewer)
    assert not gain.has_enough_text


def test_a_wrong_index_and_a_comparison_without_blocks_are_errors() -> None:
    comparison = compare(Corpus.from_text(PROSE), [OWN, gpt2()])
    with pytest.raises(ConfigError, match="from 0 to 1"):
        gain_of(comparison, 0, 2)
    bare = Comparison(comparison.rows, 1, 1, 1, 1, 0)
    with pytest.raises(ConfigError, match="without blocks"):
        gain_of(bare)


def test_held_out_blocks_stay_whole_and_other_long_texts_are_cut_at_lines() -> None:
    text = "".join(f"line {n} of many, {'long ' * (n % 7)}\n" for n in range(3_000))
    held_out = Corpus.from_text(text).split(0.3)[1]
    blocks = blocks_of(held_out)
    assert blocks.were_held_out
    assert blocks.n_cut == 0
    assert blocks.n_blocks == len(held_out.documents) > 50
    whole = blocks_of(Corpus.from_text(text))
    assert whole.n_cut == 1
    assert abs(whole.n_blocks - blocks_module.FEWEST_WANTED) < 5
    data = text.encode()
    assert all(data[start - 1 : start] == b"\n" for start in whole.starts[1:].tolist())


def test_a_long_line_without_spaces_is_cut_all_the_same() -> None:
    blocks = blocks_of(Corpus.from_text("漢" * 5_000))
    assert blocks.n_blocks == blocks_module.FEWEST_WANTED
    assert np.all(blocks.starts % 3 == 0)


@pytest.mark.slow
def test_a_hundred_thousand_short_documents_give_about_a_thousand_blocks() -> None:
    names = [f"t.csv row {n}" for n in range(100_000)]
    blocks = blocks_of(Corpus.from_documents(["ab"] * 100_000, names))
    assert blocks.files == ("t.csv",)
    assert 900 < blocks.n_blocks <= 1_100
    many = blocks_of(
        Corpus.from_documents(["ab"] * 20_000, [f"{n}.x{n % 50}" for n in range(20_000)])
    )
    assert many.n_blocks < 1_100
    assert many.files[-1] == "19,988 other files"
    assert many.types[-1] == "38 other types"
