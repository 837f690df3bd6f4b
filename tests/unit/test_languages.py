"""Costs of languages and merges of scripts, compared with values found by hand and slowly."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.comparison import ScriptMerges
from bpe_core.corpus import ParallelText, parallel_texts
from bpe_core.unicode import CUT_CHARACTERS, NO_LETTERS, find_script
from tests import foreign_models as models
from tests.commands import run, succeed
from tests.foreign_models import library_encoder
from tests.language_costs import compare_languages

BYTES = {byte: bytes([byte]) for byte in range(256)}


def tokenizer(*merges: tuple[int, int]) -> bpe.Tokenizer:
    vocab = dict(BYTES)
    triples = []
    for left, right in merges:
        made = len(vocab)
        vocab[made] = vocab[left] + vocab[right]
        triples.append((left, right, made))
    return bpe.Tokenizer(vocab=vocab, merges=triples, pretokenizer="none")


def make_text(name: str, *sentences: str) -> ParallelText:
    return ParallelText("", name, (), sentences)


def test_costs_of_two_languages_by_hand() -> None:
    # Bytes only: 2 + 2 tokens for one language, 3 + 9 for the other.
    texts = [make_text("A", "ab", "ba"), make_text("B", "abc", "漢字文")]
    (costs,) = compare_languages(texts, [tokenizer()], "A")
    assert [row.n_tokens for row in costs.metrics] == [4, 12]
    assert costs.parity == (1.0, 3.0)
    assert (costs.reference, costs.mean_parity) == (0, 3.0)
    assert costs.gini == pytest.approx(0.25)
    (other,) = compare_languages(texts, [tokenizer()], "B")
    assert other.parity == pytest.approx((1 / 3, 1.0))
    assert other.mean_parity == pytest.approx(1 / 3)


def test_every_figure_of_the_sample_equals_the_one_computed_slowly() -> None:
    texts = parallel_texts()
    encoders = [bpe.gpt2(), library_encoder(models.described(models.unigram()))]
    for encoder, costs in zip(encoders, compare_languages(texts, encoders, "English"), strict=True):
        counts = [sum(len(encoder.encode(s)) for s in text.sentences) for text in texts]
        assert [row.n_tokens for row in costs.metrics] == counts
        assert costs.parity == tuple(n / counts[0] for n in counts)
        # Gini from its definition: the mean difference of all pairs over twice the mean.
        differences = [abs(a - b) for a, b in product(counts, counts)]
        mean = sum(counts) / len(counts)
        assert costs.gini == pytest.approx(sum(differences) / len(differences) / (2 * mean))
        used = [id for text in texts for s in text.sentences for id in encoder.encode(s)]
        shares = [used.count(id) / len(used) for id in set(used)]
        entropy = math.log(sum(share**2.5 for share in shares)) / (1 - 2.5)
        assert costs.renyi_efficiency == pytest.approx(entropy / math.log(encoder.vocab_size))
        corpus = bpe.Corpus.from_documents(list(texts[7].sentences))
        assert costs.metrics[7].words == bpe.compare(corpus, [encoder]).rows[0].words


def test_parity_names_tokenizers_and_languages_as_rows_and_in_the_terminal(tmp_path: Path) -> None:
    sentences = {"A": ["ab", "ba"], "B": ["abc", "漢字文"]}
    found = bpe.parity(sentences, ["gpt2", tokenizer()], "B")
    rows = found.to_frame()[["tokenizer", "language", "n_tokens", "parity", "gini"]]
    gini = bpe.gini([4, 12])
    # GPT-2 has tokens for ab, ba and abc, and takes seven for the rest.
    assert rows.values.tolist() == [
        ["GPT-2", "A", 2, 0.25, bpe.gini([2, 8])],
        ["GPT-2", "B", 8, 1.0, bpe.gini([2, 8])],
        ["Tokenizer 2", "A", 4, pytest.approx(1 / 3), gini],
        ["Tokenizer 2", "B", 12, 1.0, gini],
    ]
    assert bpe.parity(sentences, ["gpt2"]).reference == "A"

    (tmp_path / "both.csv").write_text("A,B\nab,abc\nba,漢字文\n")
    bpe.save(tokenizer(), tmp_path / "bytes.json")
    line = ["compare", tmp_path / "both.csv", "-t", "gpt2", "-t", tmp_path / "bytes.json"]
    printed = succeed(*line, "--parity-to", "B").stdout
    assert [line.split() for line in printed.splitlines()[1:6]] == [
        ["gpt2", "bytes.json"],
        ["A", "2", "(0.25)", "4", "(0.33)"],
        ["B", "8", "(1.00)", "12", "(1.00)"],
        ["all", "languages", "10", "16"],
        ["mean", "parity", "0.25", "0.33"],
    ]
    as_json = json.loads(succeed(*line, "--parity-to", "B", "--json").stdout)
    assert as_json["reference"] == "B"
    assert [row["tokenizer"] for row in as_json["rows"]] == [str(line[3]), str(line[5])]
    assert [row["gini"] for row in as_json["rows"]] == [bpe.gini([2, 8]), gini]
    for wrong, why in (
        (("--parity-to", "C"), "'C' has no tokens"),
        (("--parity-to", "B", "--text-column", "A"), "Omit --held-out, --encoding and --text"),
    ):
        assert why in run(*line, *wrong).stderr


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (["hug"], bpe.ArgumentTypeError, "give a dict such as"),
        ({"A": "hug", "B": "pug"}, bpe.ArgumentTypeError, "give a list of str for each language"),
        ({"A": ["hug"], "B": [1]}, bpe.ArgumentTypeError, "as str, got 1"),
        ({"A": ["hug"], "B": []}, bpe.CorpusError, "from 0 to 1"),
        ({"A": ["hug"], "B": [""]}, bpe.CorpusError, "Sentence 1 of 'B' is empty"),
        ({"A": ["hug"]}, bpe.ConfigError, "at least 2 languages"),
        ({}, bpe.ConfigError, "at least 2 languages"),
    ],
)
def test_sentences_that_are_not_parallel_are_refused(
    given: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        bpe.parity(given, ["gpt2"])


def test_languages_that_cannot_be_compared_are_refused() -> None:
    two = [make_text("A", "a"), make_text("B", "b")]
    with pytest.raises(bpe.ConfigError):
        compare_languages(two[:1], [bpe.gpt2()], "A")
    with pytest.raises(bpe.ConfigError, match="'C' has no tokens"):
        compare_languages(two, [bpe.gpt2()], "C")


def test_merges_count_for_the_script_of_their_letters() -> None:
    # ab, ж, part of 漢, 漢, one Latin and one Cyrillic letter (a tie), two exclamation marks.
    zhe, han = "ж".encode(), "漢".encode()
    merges = [(97, 98), (zhe[0], zhe[1]), (han[0], han[1]), (258, han[2]), (97, 257), (33, 33)]
    spent = ScriptMerges.of(tokenizer(*merges))
    assert sorted(spent.names) == sorted(["Latin", "Cyrillic", "Han", CUT_CHARACTERS, NO_LETTERS])
    assert spent.names[0] == "Latin"
    after = dict(zip(spent.names, spent.after.tolist(), strict=True))
    assert after["Latin"] == [0, 1, 1, 1, 1, 2, 2]
    assert after["Cyrillic"] == [0, 0, 1, 1, 1, 1, 1]
    assert after[CUT_CHARACTERS] == [0, 0, 0, 1, 1, 1, 1]
    assert after["Han"] == [0, 0, 0, 0, 1, 1, 1]
    assert after[NO_LETTERS] == [0, 0, 0, 0, 0, 0, 1]


def test_the_merges_of_all_scripts_add_up_to_the_number_of_merges() -> None:
    spent = ScriptMerges.of(bpe.gpt2().truncated(2_000))
    assert np.array_equal(spent.after.sum(axis=0), np.arange(2_001))
    latin = sum(
        any(find_script(c) == "Latin" for c in bpe.gpt2().vocab[merge.id].decode(errors="ignore"))
        for merge in bpe.gpt2().merges[:2_000]
    )
    assert abs(int(spent.after[spent.names.index("Latin"), -1]) - latin) < 5
    assert ScriptMerges.of(tokenizer()).after.shape == (0, 1)


def test_a_table_and_separate_files_give_the_same_texts() -> None:
    table = 'English,日本語\n"Good morning, all.",おはよう。\nYes,はい\n'.encode()
    from_table = ParallelText.read([("any.csv", table)])
    files = {"English.txt": b"Good morning, all.\nYes\n", "日本語.txt": "おはよう。\nはい".encode()}
    assert ParallelText.read(list(files.items())) == from_table
    assert [text.scripts for text in from_table] == [("Latin",), ("Hiragana",)]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": b""}, "first row"),
        ({"a.csv": b"A,B\n"}, "first row"),
        ({"a.csv": b"A,A\nx,y\n"}, "once"),
        ({"a.csv": b"A,B\nx\n"}, "row 2, has 1 cells"),
        ({"a.csv": b"A,B\nx, \n"}, "Sentence 1 of 'B' is empty"),
        ({"a.csv": b"A\nx\n"}, "Expected 2 to 200 languages, found 1\\."),
        ({"a.csv": b'A,B\n"x,y\n'}, "not a table"),
        ({"a.txt": b"x\ny\n", "b.txt": b"x\n"}, "from 1 to 2"),
        ({"a.csv": b"\x89PNG\r\n\x1a\n\x00"}, "PNG"),
        ({"a.csv": b"A,B\n" + b"x,y\n" * 200_000}, "more than 300,000 sentences"),
        ({"a.csv": b"A,B\n" + b"x," * 10_000_000}, "more than 300,000 sentences"),
        ({"a.csv": b"A,B\n" + b"\n" * 400_000}, "more than 300,000 sentences"),
        ({"a.txt": b"x\n" * 200_000, "b.txt": b"x\n" * 200_000}, "more than 300,000 sentences"),
        ({"a.csv": b"A,B\n" + b"x" * 25_000_000}, "more than the 25,000,000"),
        (
            {"a.csv": ",".join(f"L{i}" for i in range(300)).encode() + b"\n" + b"x," * 299 + b"x"},
            "300",
        ),
    ],
)
def test_texts_that_are_not_parallel_are_a_clear_error(
    files: dict[str, bytes], message: str
) -> None:
    with pytest.raises(bpe.CorpusError, match=message):
        ParallelText.read(list(files.items()))


def test_two_files_of_the_same_language_are_a_clear_error() -> None:
    for second in ("s.txt", "s.md"):
        with pytest.raises(bpe.CorpusError, match="Two files name the language 's'"):
            ParallelText.read([("s.txt", b"x\n"), (second, b"y\n")])


def test_the_sample_has_at_least_twenty_languages_and_twelve_scripts() -> None:
    texts = parallel_texts()
    assert len(texts) >= 20
    assert len({script for text in texts for script in text.scripts}) >= 12
    assert len({len(text.sentences) for text in texts}) == 1
    assert len({text.sentences for text in texts}) == len(texts)


@pytest.mark.parametrize("costs", [[], [0], [-1, 2], [math.nan], [math.inf, 1], [10**400, 1]])
def test_costs_without_a_coefficient_are_refused(costs: list[float]) -> None:
    with pytest.raises(bpe.ConfigError, match="Expected"):
        bpe.gini(costs)
