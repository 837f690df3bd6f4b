"""Differences by kind, script, type and file add up to the whole; disagreeing parts are named."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import regex

import bpe_core as bpe
from bpe_core.comparison import Blocks, TextPart, TokenSaving
from bpe_core.comparison.intervals import MAX_UNITS
from bpe_core.comparison.text_map import TOKEN_KINDS
from bpe_core.corpus import HeldOut, Place, load_sample, parallel_texts
from bpe_core.unicode import SCRIPT_GROUPS, find_group, find_script, is_letter
from tests.foreign_models import described, library_encoder, word_piece

OWN = bpe.train(load_sample("multilingual"), bpe.TrainingConfig(600)).tokenizer
ENCODERS: dict[str, bpe.Encoder] = {
    "own": OWN,
    "gpt2": bpe.gpt2(),
    "bytes": OWN.truncated(0),
    "joined": bpe.train(
        load_sample("multilingual"), bpe.TrainingConfig(700, pretokenizer="none")
    ).tokenizer,
    "marked": bpe.train(
        load_sample("multilingual"),
        bpe.TrainingConfig(900, pretokenizer="whitespace", base="characters", end_of_word="</w>"),
    ).tokenizer,
    "foreign": library_encoder(described(word_piece())),
}
TEXTS = ["カの漢字ー, ー 7!", "naïve ☃ 😀 x2 ①\n\n\tnot ... да нет", "", "\u0301 e\u0301 ﬁ"]
CODE = "def run(n):\n        while n > 0:\n                n -= 1\n        return [n, n]\n"
RUSSIAN = "Шёл дождь, и на улице никого не было; только кошка сидела под крыльцом.\n"
PROSE = "It was a bright cold day in April, and the clocks were striking thirteen.\n"


def naive_counts(text: str, encoder: bpe.Encoder) -> tuple[Counter[str], Counter[str]]:
    """Count tokens by kind and script from their segments, one by one."""
    kinds: Counter[str] = Counter()
    scripts: Counter[str] = Counter()
    for segment in encoder.segments(text):
        if segment.id is None:
            continue
        # A separate marker covers no text, so it belongs to the segment before it.
        touched = text[segment.start : segment.end] or text[segment.start - 1 : segment.end]
        if regex.search(r"[\p{L}\p{M}]", touched):
            kinds["words"] += 1
        elif regex.search(r"\p{N}", touched):
            kinds["numbers"] += 1
        elif regex.search(r"\P{White_Space}", touched):
            kinds["punctuation"] += 1
        else:
            kinds["white space"] += 1
        letters = Counter(find_group(c) for c in touched if find_script(c) is not None)
        if letters:
            scripts[letters.most_common(1)[0][0]] += 1
        else:
            scripts["other letters" if any(map(is_letter, touched)) else "no letters"] += 1
    return kinds, scripts


@pytest.mark.parametrize("name", ENCODERS)
def test_tokens_are_counted_as_their_segments_say(name: str) -> None:
    encoder = ENCODERS[name]
    documents = [*TEXTS, *(" ".join(text.sentences[:3]) for text in parallel_texts()), CODE]
    comparison = bpe.compare(bpe.Corpus.from_documents(documents), [encoder])
    kinds: Counter[str] = Counter()
    scripts: Counter[str] = Counter()
    for text in documents:
        of_text = naive_counts(text, encoder)
        kinds += of_text[0]
        scripts += of_text[1]
    (counts,) = comparison.by_block
    assert +named(TOKEN_KINDS, counts.kinds) == kinds
    together = (kinds["words"] + kinds["numbers"], kinds["punctuation"], kinds["white space"])
    assert comparison.rows[0].kinds == together
    assert +named(SCRIPT_GROUPS, counts.scripts) == scripts


def named(names: tuple[str, ...], counts: Any) -> Counter[str]:
    return Counter(dict(zip(names, counts.sum(axis=0).tolist(), strict=True)))


def corpora() -> dict[str, bpe.Corpus]:
    files = [PROSE * 40, RUSSIAN * 60, CODE * 50, "", "x", *(f"tiny {n}\n" for n in range(30))]
    names = ["a.txt", "b.txt", "c.py", "d", "e.md", *(f"rows.csv row {n}" for n in range(30))]
    mixed = bpe.Corpus.from_documents(files, names)
    mixed_folders = bpe.Corpus.from_documents(
        [f"{n} {PROSE}" * (n % 3 + 1) for n in range(200)],
        [f"{n // 4}/{n}.{'py' if n % 5 else 'txt'}" for n in range(200)],
    )
    return {
        "files": mixed,
        "held out": mixed.split(0.3, seed=3)[1],
        "by folder": mixed_folders.split(0.3, seed=3, by="folder")[1],
        "one text": bpe.Corpus.from_text(RUSSIAN * 30 + CODE * 30),
        "many files": bpe.Corpus.from_documents([PROSE] * 50, [f"{n}.t{n}" for n in range(50)]),
        "words": bpe.Corpus.from_word_counts(
            {"hug": 50, "да": 30, " 7": 4, "!": 90, "\n": 7} | {f"w{n}": n + 1 for n in range(40)}
        ),
    }


@pytest.mark.parametrize("name", corpora())
@pytest.mark.parametrize("first", ["own", "joined", "foreign"])
def test_the_parts_of_each_division_add_up_to_the_whole(name: str, first: str) -> None:
    comparison = bpe.compare(corpora()[name], [ENCODERS[first], bpe.gpt2()])
    gain = comparison.gain()
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
    own = bpe.train(
        bpe.Corpus.from_text(CODE * 20 + RUSSIAN * 20), bpe.TrainingConfig(700)
    ).tokenizer
    corpus = bpe.Corpus.from_documents(
        [text * (2 + n % 4) for text in (PROSE, RUSSIAN * 2, CODE * 3) for n in range(30)],
        [f"{name} row {n}" for name in ("a.csv", "b.tsv", "c.jsonl") for n in range(30)],
    )
    gain = bpe.compare(corpus, [own, bpe.gpt2()]).gain()
    divisions = {name: {part.name: part for part in parts} for name, parts in gain.divisions}
    assert gain.whole.way == "fewer"
    assert divisions["file"]["a.csv"].way == "more"
    assert divisions["file"]["b.tsv"].way == "fewer"
    assert divisions["script"]["Latin letters"].way == "more"
    found = {(division, part.name) for division, part in gain.disagreeing}
    assert {("file", "a.csv"), ("script", "Latin letters"), ("script", "Cyrillic letters")} <= found
    for _, part in gain.disagreeing:
        assert not part.low <= gain.whole.percent_fewer <= part.high


def test_parts_that_are_alike_do_not_disagree() -> None:
    lines = [f"the clocks were striking {word}\n" for word in ("one", "two", "three", "seven")]
    generator = np.random.default_rng(0)
    documents = ["".join(generator.choice(lines, size=200)) for _ in range(4)]
    corpus = bpe.Corpus.from_documents(documents, [f"{n}.txt" for n in range(4)])
    gain = bpe.compare(corpus, [bpe.gpt2(), bpe.gpt2().truncated(2_000)]).gain()
    assert {part.name for division, part in gain.disagreeing if division == "file"} == set()


def whole(comparison: bpe.Comparison) -> TextPart:
    return comparison.gain().whole


def documents(text: str, n: int = 40) -> bpe.Corpus:
    return bpe.Corpus.from_documents([text * (1 + place % 3) for place in range(n)])


def test_an_interval_over_zero_is_unclear_and_of_one_tokenizer_with_itself_is_zero() -> None:
    same = whole(bpe.compare(documents(PROSE), [bpe.gpt2(), bpe.gpt2()]))
    assert (same.percent_fewer, same.low, same.high, same.way) == (0, 0, 0, "unclear")
    clear = whole(bpe.compare(documents(PROSE), [bpe.gpt2(), bpe.gpt2().truncated(100)]))
    assert clear.way == "fewer"
    assert 0 < clear.low <= clear.percent_fewer <= clear.high
    rare, frequent = "yes no\n", "no yes\n" * 3
    either = bpe.Corpus.from_documents([rare if n % 2 else frequent for n in range(60)])
    own = bpe.train(
        bpe.Corpus.from_text(rare * 9), bpe.TrainingConfig(260, special_tokens=())
    ).tokenizer
    other = bpe.train(
        bpe.Corpus.from_text(frequent), bpe.TrainingConfig(260, special_tokens=())
    ).tokenizer
    assert whole(bpe.compare(either, [own, other])).has_interval


def test_few_tokens_are_not_enough_text_and_few_documents_have_no_interval() -> None:
    short = bpe.compare(bpe.Corpus.from_text(PROSE * 3), [bpe.gpt2(), OWN]).gain()
    assert short.whole.own < TokenSaving.MIN_TOKENS
    assert not short.has_enough_text
    for n, has_interval in ((1, False), (HeldOut.MIN_UNITS - 1, False), (HeldOut.MIN_UNITS, True)):
        gain = bpe.compare(documents(PROSE * 30, n), [bpe.gpt2(), OWN]).gain()
        assert gain.has_enough_text
        assert gain.whole.n_units == n
        assert gain.whole.has_interval == has_interval
        assert gain.whole.way == "fewer"
        assert has_interval or not gain.disagreeing


def test_small_scripts_are_taken_together_and_one_script_is_no_division() -> None:
    text = PROSE * 200 + RUSSIAN * 100 + "漢字 ελ שלום\n"
    (scripts,) = (
        parts
        for division, parts in bpe.compare(bpe.Corpus.from_text(text), [OWN, bpe.gpt2()])
        .gain()
        .divisions
        if division == "script"
    )
    names = [part.name for part in scripts]
    assert names == ["no letters", "Latin letters", "Cyrillic letters", TokenSaving.OTHER_SCRIPTS]
    one = bpe.compare(bpe.Corpus.from_text(PROSE * 200), [OWN, bpe.gpt2()]).gain()
    assert "script" not in dict(one.divisions)


def test_a_text_without_tokens_has_no_figure_and_no_parts() -> None:
    gain = bpe.compare(
        bpe.Corpus.from_text(" \n"), [ENCODERS["foreign"], ENCODERS["foreign"]]
    ).gain()
    assert (gain.whole.own, gain.whole.theirs, gain.divisions) == (0, 0, ())
    assert math.isnan(gain.whole.percent_fewer)
    assert not gain.has_enough_text


def test_a_wrong_index_and_a_comparison_without_blocks_are_errors() -> None:
    comparison = bpe.compare(bpe.Corpus.from_text(PROSE), [OWN, bpe.gpt2()])
    with pytest.raises(bpe.OutOfRangeError, match="from 0 to 1"):
        comparison.gain(0, 2)
    bare = bpe.Comparison(comparison.rows, 1, 1, 1, 1, 0)
    with pytest.raises(bpe.ConfigError, match="without blocks"):
        bare.gain()


def test_the_units_are_documents_or_what_was_held_out_together() -> None:
    texts = [f"{n} {PROSE}" * 5 for n in range(300)]
    names = [f"{n // 6}/{n}.txt" for n in range(300)]
    corpus = bpe.Corpus.from_documents(texts, names)
    assert Blocks.of(corpus).n_units == 300
    _, by_document = corpus.split(0.2, by="document")
    assert Blocks.of(by_document).n_units == len(by_document.documents)
    _, by_folder = corpus.split(0.2, by="folder")
    blocks = Blocks.of(by_folder)
    assert blocks.n_units == len({name.split("/")[0] for name in by_folder.names})
    assert blocks.how == by_folder.how
    # Both ends of a document are of one unit.
    _, stretches = bpe.Corpus.from_documents([PROSE * 900, RUSSIAN * 900, CODE * 900]).split(0.2)
    assert len(stretches.documents) == 6
    assert Blocks.of(stretches).n_units == 3
    # Pieces of one document are one unit, too.
    pieces = bpe.Corpus(
        ("a", "b", "c"), ("x", "x", "y"), places=(Place(0, 1), Place(9, 2), Place(0, 1))
    )
    assert Blocks.of(pieces).unit_of_block.tolist() == [0, 1]


def test_strata_of_few_units_are_one_stratum() -> None:
    kinds = {"a.txt": 30, "b.py": 25, "c.md": 3, "d.rst": 4}
    names = [f"{n}{kind}" for kind, times in kinds.items() for n in range(times)]
    blocks = Blocks.of(bpe.Corpus.from_documents([PROSE] * len(names), names))
    assert sorted(np.bincount(blocks.stratum_of_unit).tolist()) == [7, 25, 30]
    one_left = Blocks.of(bpe.Corpus.from_documents([PROSE] * 31, [*names[:30], "e.md"]))
    assert one_left.stratum_of_unit.tolist() == [0] * 31


@pytest.mark.slow
def test_a_hundred_thousand_short_documents_give_about_a_thousand_units() -> None:
    names = [f"t.csv row {n}" for n in range(100_000)]
    blocks = Blocks.of(bpe.Corpus.from_documents(["ab"] * 100_000, names))
    assert blocks.files == ("t.csv",)
    assert MAX_UNITS * 0.9 < blocks.n_units <= MAX_UNITS * 1.1
    many = Blocks.of(
        bpe.Corpus.from_documents(["ab"] * 20_000, [f"{n}.x{n % 50}" for n in range(20_000)])
    )
    assert many.n_units < 1_100
    assert many.files[-1] == "19,988 other files"
    assert many.types[-1] == "38 other types"
