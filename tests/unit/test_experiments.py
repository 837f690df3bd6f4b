"""Rows of an experiment equal single trainings, resume, and answer which to take."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.comparison.measurement import renyi_efficiency
from bpe_core.corpus import parallel_texts
from bpe_core.experiments import ExperimentRow, Training
from bpe_core.experiments.table import MEASURED_ON_THE_MACHINE
from tests.commands import run, succeed
from tests.foreign_models import described, library_encoder, word_piece
from tests.new_process import ROOT

SIZES = (280, 320, 400)
CUTS = ("gpt2", "cl100k")
SETTINGS: dict[str, Any] = {
    "vocab_sizes": [*SIZES],
    "pretokenizers": [*CUTS],
    "alphabets": ["full", "characters"],
    "extend": ["gpt2"],
    "new_tokens": [3, 9],
    "held_out": 0.3,
    "seed": 3,
    "alpha": 2.0,
    "parallel": [],
}


def texts(n: int = 90) -> list[str]:
    words = "the bare bytes of a text for readers who merge pairs until none".split()  # noqa: SIM905
    return [
        " ".join(words[(i * k + k) % len(words)] for k in range(1, 30)) + f" {i} words{i}!\n"
        for i in range(n)
    ]


@cache
def found() -> bpe.Experiment:
    return bpe.experiment(SETTINGS, {"mine": texts()})


@cache
def small() -> dict[str, Any]:
    """Return the settings without the extended tokenizers, which take longest."""
    return {**SETTINGS, "extend": [], "new_tokens": []}


def stable(experiment: bpe.Experiment) -> list[dict[str, Any]]:
    """Return the table without the columns that differ each time."""
    return [
        {name: value for name, value in row.items() if name not in MEASURED_ON_THE_MACHINE}
        for row in experiment.table
    ]


def test_thirty_rows_equal_single_trainings_to_the_digit(tmp_path: Path):
    training, held_out = bpe.Corpus.from_documents(texts()).split(0.3, 3)
    small_base = str(tmp_path / "base.json")
    bpe.save(bpe.train(texts(40), vocab_size=300).tokenizer, small_base)
    trainers: dict[str, dict[str, Any]] = {
        "plain": {},
        "long": {
            "superwords_from": SIZES[0],
            "seeds": ["zebra"],
            "vetoes": ["regex:[0-9]"],
            "whole_characters": True,
        },
    }
    wide = {"trainers": trainers, "extend": ["gpt2", small_base], "new_tokens": [3, 9, 20]}
    experiment = bpe.experiment({**SETTINGS, **wide}, {"mine": texts()})
    assert len(experiment.rows) == 30
    assert [row.settings["trainer"] for row in experiment.rows[:6]] == ["plain"] * 3 + ["long"] * 3
    by_trainer = [
        {row.figures["fingerprint"] for row in experiment.rows if row.settings["trainer"] == each}
        for each in trainers
    ]
    assert not by_trainer[0] & by_trainer[1]
    assert tomllib.loads(experiment.to_toml())["trainers"] == trainers
    first = None
    for row, line in zip(experiment.rows, experiment.table, strict=True):
        own = row.settings
        if own["base"] is None:
            assert own["pretokenizer"] in CUTS
            base = "characters" if own["alphabet"] == "characters" else "bytes"
            size, cut = own["vocab_size"], own["pretokenizer"]
            more = trainers[own["trainer"]]
            alone = bpe.train(training, bpe.TrainingConfig(size, cut, base, **more))
        else:
            alone = bpe.extend(own["base"], training, own["vocab_size"])
        tokenizer = alone.tokenizer
        first = first or tokenizer
        compared = bpe.compare(held_out, [tokenizer, first])
        bits = bpe.bits_per_byte(tokenizer, training, held_out)
        gain = compared.gain().whole
        counts = np.array(bits.id_counts)
        expected = {
            "pretokenizer": own["pretokenizer"],
            "fingerprint": tokenizer.fingerprint,
            "stop_reason": alone.stop_reason,
            "vocab_size": tokenizer.vocab_size,
            "n_tokens": compared.rows[0].n_tokens,
            "bytes_per_token": compared.rows[0].bytes_per_token,
            "percent_fewer": gain.percent_fewer,
            "percent_fewer_low": gain.low,
            "percent_fewer_high": gain.high,
            "bits_per_byte": bits.bits_per_byte,
            "bits_per_byte_low": bits.interval[0],
            "renyi_efficiency": renyi_efficiency(
                counts, vocab_size=tokenizer.vocab_size, alpha=2.0
            ),
            "n_dead": len(bpe.dead_tokens(tokenizer, training)),
        }
        assert {name: line[name] for name in expected} == expected, row.name


@pytest.mark.more(why="the figures of single commands; the library's are tested above")
def test_thirty_rows_equal_single_commands_to_the_digit(tmp_path: Path):
    sources = tmp_path / "texts"
    sources.mkdir()
    for number, text in enumerate(texts()):
        (sources / f"{number:03}.txt").write_text(text, encoding="utf-8")
    trainers = {"plain": (), "long": ("--superwords-from", "280", "--veto", "regex:[0-9]")}
    file = tmp_path / "sizes.toml"
    file.write_text(
        'vocab_sizes = [280, 320, 400]\npretokenizers = ["gpt2", "cl100k"]\nparallel = []\n'
        'alphabets = ["full", "characters"]\nextend = ["gpt2", "r50k_base"]\n'
        "new_tokens = [3, 9, 20]\nheld_out = 0.3\nseed = 3\n[trainers]\nplain = {}\n"
        'long = {superwords_from = 280, vetoes = ["regex:[0-9]"]}\n[corpora]\nx = "texts"\n'
    )
    rows = json.loads(succeed("experiment", file, "--json").stdout)["rows"]
    assert len(rows) == 30
    split = ("--held-out", "0.3", "--seed", "3")
    made: list[Path] = []
    for number, row in enumerate(rows):
        out = tmp_path / f"{number}.bpe.json"
        if row["base"] is None:
            base = "characters" if row["alphabet"] == "characters" else "bytes"
            own = ("--pretokenizer", row["pretokenizer"], "--base", base, *trainers[row["trainer"]])
            size = row["tokenizer"].rpartition(", ")[2]  # text may end before it is reached
            succeed("train", sources, *split, "--vocab-size", size, *own, "--out", out)
        else:
            out = tmp_path / f"{number}"
            n_tokens = row["tokenizer"].rpartition("+")[2]
            more = ("--tokens", n_tokens, "--out", out, "--format", "transformers")
            succeed("extend", row["base"], sources, *split, *more)
        made.append(out)
        pair = ("-t", out, "-t", made[0], "--json")
        found = json.loads(succeed("compare", sources, *split, *pair).stdout)
        (one, first), (difference,) = found["rows"], found["differences"]
        single = {
            "vocab_size": one["vocab_size"],
            "n_tokens": one["n_tokens"],
            "bytes_per_token": one["bytes_per_token"],
            "renyi_efficiency": one["renyi_efficiency"],
            "percent_fewer": difference["percent_fewer"],
            "percent_fewer_low": difference["interval"][0],
            "percent_fewer_high": difference["interval"][1],
            "bits_per_byte": bpe.bits_per_byte(
                out, *bpe.read_corpus(sources).split(0.3, 3)
            ).bits_per_byte,
        }
        assert {name: row[name] for name in single} == single, row["tokenizer"]
        assert first["n_tokens"] == rows[0]["n_tokens"]


def test_languages_take_turns_or_weigh_more_and_tokens_are_removed_in_rows():
    documents = ["das Meer und der Weg ins Meer " * 9, "the sea and the way to the sea " * 30] * 5
    names = [f"{name}/{number}.txt" for number in range(5) for name in ("de", "en")]
    corpus = bpe.Corpus.from_documents(documents, names)
    training, held_out = corpus.split(0.3, 3)
    trainers: dict[str, dict[str, Any]] = {
        "plain": {},
        "fair": {"parity": True},
        "German": {"weights": {"de": 4.5}},
        "picky": {"picky": 0.6},
    }
    settings = {"vocab_sizes": [280, 300], "trainers": trainers, "held_out": 0.3, "seed": 3}
    experiment = bpe.experiment({**settings, "parallel": []}, {"mine": corpus})
    assert tomllib.loads(experiment.to_toml())["trainers"] == trainers
    assert [row.name for row in experiment.rows][2:4] == ["fair, 280", "fair, 300"]
    for row in experiment.rows:
        size, more = row.settings["vocab_size"], {**trainers[row.settings["trainer"]]}
        text = training.weighted(more.pop("weights", {}))
        alone = bpe.train(text, bpe.TrainingConfig(size, **more)).tokenizer
        assert row.figures["fingerprint"] == alone.fingerprint
        assert row.figures["n_tokens"] == sum(map(len, alone.encode_batch([*held_out.documents])))
        assert row.figures["n_dead"] == len(bpe.dead_tokens(alone, training))
        assert row.figures["n_dead"] < len(alone.vocab) - len(alone.table.removed)
    assert len({row.figures["fingerprint"] for row in experiment.rows[1::2]}) == 4
    # What a corpus cannot do is a reason for these rows, and the others are measured.
    one = {"mine": bpe.Corpus.from_documents(documents, ["en/1.txt"] * 10)}
    partly = bpe.experiment({**settings, "parallel": []}, one)
    assert {row.settings["trainer"] for row in partly.rows} == {"plain", "picky"}
    fair, german = partly.refusals
    assert fair.startswith("fair, 280 and 300 tokens: ")
    assert "Add a file for each other" in fair
    assert german.startswith("German, 280 and 300 tokens: No document, file or folder")
    # So is what a cut cannot do, if the way to train goes with another one.
    trainers = {"plain": {}, "long": {"superwords_from": 280}}
    cuts = {"pretokenizers": ["gpt2", "whitespace"], "trainers": trainers, "parallel": []}
    (sentence,) = bpe.experiment({**settings, **cuts}, one).refusals
    assert sentence.startswith("whitespace, long, 280 and 300 tokens: Superwords hold the spaces")
    with pytest.raises(bpe.ConfigError, match="Superwords hold the spaces"):
        bpe.experiment({**settings, **cuts, "pretokenizers": ["whitespace"]}, one)
    # A reason that many share is said once.
    many = {"pretokenizers": ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "tekken"]}
    (sentence,) = bpe.experiment(
        {"vocab_sizes": [99, 280], "held_out": 0.3, "parallel": [], **many}, {"mine": texts()}
    ).refusals
    assert sentence.startswith("gpt2, 99 tokens; cl100k, 99 tokens; o200k, 99 tokens and 3 more: A")
    # Plain BPE is trained before ways that take longer.
    order: list[str | None] = []
    bpe.experiment(
        {**settings, "parallel": [], "trainers": {"picky": {"picky": 0.6}, "plain": {}}},
        {"mine": corpus},
        on_run=lambda training, _, __: order.append(training.trainer),
    )
    assert order == ["plain", "plain", "picky", "picky"]
    with pytest.raises(bpe.ConfigError, match="Add a file for each other"):
        bpe.experiment({**settings, "trainers": {"fair": {"parity": True}}}, one)


def test_the_columns_about_the_machine_are_named_after_what_shares_them():
    rows = found().table
    assert MEASURED_ON_THE_MACHINE == (
        "shared_training_seconds",
        "measuring_seconds",
        "process_peak_mb",
    )
    trainings = {
        (row["base"], row["pretokenizer"], row["alphabet"]): row["shared_training_seconds"]
        for row in rows
    }
    assert len(trainings) == 5
    assert all(
        row["shared_training_seconds"]
        == trainings[row["base"], row["pretokenizer"], row["alphabet"]]
        for row in rows
    )
    assert all(row["process_peak_mb"] > 0 for row in rows)
    docs = (ROOT / "docs" / "experiments.md").read_text("utf-8")
    assert all(f"| `{name}` |" in docs for name in MEASURED_ON_THE_MACHINE)


def test_parity_is_that_of_the_parallel_sentences():
    sentences = {text.name: text.sentences for text in parallel_texts()}
    settings = {"vocab_sizes": [280], "held_out": 0.3, "reference": "Thai"}
    experiment = bpe.experiment(settings, {"mine": texts()})
    training, _ = bpe.Corpus.from_documents(texts()).split(0.3)
    (costs,) = bpe.parity(sentences, [bpe.train(training, vocab_size=280)], "Thai").costs
    (row,) = experiment.table
    assert (row["mean_parity"], row["gini"]) == (costs.mean_parity, costs.gini)


def test_a_tokenizer_that_cannot_spell_a_language_has_no_parity():
    texts = [f"孔乙己是站着喝酒而穿长衫的唯一的人。{n}\n" for n in range(40)]
    settings = {"vocab_sizes": [300], "alphabets": ["full", "characters"], "held_out": 0.3}
    rows = bpe.experiment(settings, {"mine": texts}).rows
    assert [row.figures["mean_parity"] is None for row in rows] == [False, True]


def test_a_tokenizer_that_loses_text_is_not_the_answer():
    # Each document has a character of its own, which no other document can teach.
    documents = [f"the bare bytes of text {chr(0x4E00 + n)}{n % 3}\n" for n in range(60)]
    settings = {"vocab_sizes": [360, 380], "held_out": 0.3, "parallel": []}
    both = bpe.experiment({**settings, "alphabets": ["full", "characters"]}, {"mine": documents})
    n_held_out = int(both.bytes_by_unit.sum()) // len(documents[0].encode())
    assert [row.figures["bytes_lost"] for row in both.rows] == [0, 0, *[3 * n_held_out] * 2]
    assert both.rows[both.recommended].settings["alphabet"] == "full"
    assert both.rows[3].figures["n_tokens"] < both.rows[1].figures["n_tokens"]
    assert both.answer.endswith("Those that lose some of the held-out text are left out.")
    alone = bpe.experiment({**settings, "alphabets": ["characters"]}, {"mine": documents})
    assert alone.answer.endswith("It loses some of the held-out text, which then costs no tokens.")


def test_a_size_too_small_for_an_alphabet_is_said_and_the_others_go_on(tmp_path: Path):
    documents = [f"the bare bytes of text {chr(0x4E00 + n)}{n % 3}\n" for n in range(60)]
    settings = {
        "vocab_sizes": [40, 100, 120, 300],
        "alphabets": ["full", "characters"],
        "held_out": 0.1,
        "parallel": [],
    }
    runs: list[int] = []
    experiment = bpe.experiment(
        settings, {"mine": documents}, work=tmp_path, on_run=lambda _, size, run: runs.append(size)
    )
    measured = ["full, 300", "characters, 100", "characters, 120", "characters, 300"]
    assert [row.name for row in experiment.rows] == measured
    refused = ["full, 40", "full, 100", "full, 120", "characters, 40"]
    assert [row.name for row in experiment.refused] == refused
    assert all("no room for" in row.why for row in experiment.refused)
    assert experiment.to_dict()["refused"].keys() == {*refused}
    frame = experiment.to_frame()
    assert frame.tokenizer.tolist() == measured + refused
    assert frame.stop_reason.tolist()[-1] == experiment.refused[-1].why
    lines = [*csv.DictReader(io.StringIO(experiment.to_csv()))]
    assert [line["n_tokens"] == "" for line in lines] == [False] * 4 + [True] * 4
    # What is too small is kept, like a row that was measured.
    runs.clear()
    again = bpe.experiment(
        settings, {"mine": documents}, work=tmp_path, on_run=lambda _, size, run: runs.append(size)
    )
    assert (again.refused, runs) == (experiment.refused, [])
    # All sizes of a training can be too small; if no row is left, that is an error.
    small = {**settings, "vocab_sizes": [40]}
    with pytest.raises(bpe.ConfigError, match="too small"):
        bpe.experiment(small, {"mine": documents})
    # A size at which words would not yet join says so too.
    trainers = {"plain": {}, "long": {"superwords_from": 300}}
    long = {**settings, "alphabets": ["full"], "vocab_sizes": [290, 310], "trainers": trainers}
    joined = bpe.experiment(long, {"mine": documents})
    assert [row.name for row in joined.rows] == ["plain, 290", "plain, 310", "long, 310"]
    ((name, _, why),) = joined.refused
    assert (name, why[:30]) == ("long, 290", "Words join from 300 tokens on,")
    # So does one at which the first words have no room for the alphabet, whatever its size.
    early = {"long": {"superwords_from": 200}}
    both = bpe.experiment({**long, "trainers": {"plain": {}, **early}}, {"mine": documents})
    (sentence,) = both.refusals
    assert sentence.startswith(
        "long, 290 and 310 tokens: Words join from 200 tokens on. A vocabulary of 200 is too small"
    )
    both = bpe.experiment({**small, "vocab_sizes": [100]}, {"mine": documents})
    assert [row.name for row in both.refused] == ["full, 100"]
    with pytest.raises(bpe.ConfigError, match="against names a row that could not be trained"):
        bpe.experiment({**settings, "against": "full, 40"}, {"mine": documents})


def test_cuts_of_a_run_are_the_runs_of_smaller_vocabularies():
    corpus = bpe.Corpus.from_documents(texts(30))
    each: tuple[Any, ...] = (
        {},
        {"alphabet": "seen"},
        {"base": "characters", "end_of_word": "</w>"},
    )
    for settings in each:
        largest = bpe.train(corpus, vocab_size=420, **settings)
        for size in (290, 330, 420, 9_000):
            cut, alone = largest.cut(size), bpe.train(corpus, vocab_size=min(size, 420), **settings)
            assert cut.tokenizer == alone.tokenizer
            assert cut.merges == alone.merges
            assert cut.joined_at.tolist() == alone.joined_at.tolist()
            assert cut.tokens_after.tolist() == alone.tokens_after.tolist()
            assert cut.stop_reason == alone.stop_reason
        with pytest.raises(bpe.VocabularyTooSmallError):
            largest.cut(10)
    extended = bpe.extend("gpt2", corpus, 8)
    alone = bpe.extend("gpt2", corpus, 3)
    cut = extended.cut(50_257 + 3)
    assert (cut.tokenizer, cut.merges) == (alone.tokenizer, alone.merges)
    assert cut.pair_counts(3) == alone.pair_counts(3)


def test_a_stopped_experiment_resumes_and_is_equal(tmp_path: Path):
    expected = stable(bpe.experiment(small(), {"mine": texts()}))
    runs: list[tuple[Training, int]] = []
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 3 and len(runs) > 3

    def note(training: Training, size: int, run: bpe.TrainingRun) -> None:
        assert run.config.vocab_size == size
        runs.append((training, size))

    def go(**more: Any) -> bpe.Experiment:
        return bpe.experiment(small(), {"mine": texts()}, work=tmp_path, on_run=note, **more)

    with pytest.raises(CancelledError):
        go(should_stop=stop)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert 0 < len(kept) < 12
    first = next(iter(kept))
    (tmp_path / first).write_text("{")  # a damaged row is measured again
    runs.clear()
    assert stable(go()) == expected
    assert len(runs) == 12 - len(kept) + 1
    runs.clear()
    progress: list[Any] = []
    assert stable(go(on_progress=progress.append)) == expected
    assert not runs
    assert progress[-1].rows_done == 12
    # A further size measures only that.
    more = {**small(), "vocab_sizes": [*SIZES, 410]}
    bpe.experiment(more, {"mine": texts()}, work=tmp_path, on_run=note)
    assert sorted({size for _, size in runs}) == [410]
    # Another seed measures everything.
    runs.clear()
    bpe.experiment({**small(), "seed": 4}, {"mine": texts()}, work=tmp_path, on_run=note)
    assert len(runs) == 12


def test_a_file_a_command_and_the_library_give_one_table(tmp_path: Path):
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(texts()):
        (tmp_path / "texts" / f"{number:03}.txt").write_text(text, encoding="utf-8")
    file = tmp_path / "sizes.toml"
    settings = (
        'vocab_sizes = [280, 400]\nheld_out = 0.3\n[corpora]\n"my\\u007f “texts”" = ["texts"]\n'
    )
    file.write_text(settings, encoding="utf-8")
    library = bpe.experiment(file)
    out = tmp_path / "out"
    printed = run("experiment", file, "--out", out)
    assert printed.exit_code == 0, printed.output
    assert (
        printed.output.splitlines()[1].strip() == library.answer or library.answer in printed.output
    )
    as_json = json.loads((out / "table.json").read_text("utf-8"))
    rows = [{key: row[key] for key in stable(library)[0]} for row in as_json["rows"]]
    assert rows == stable(library)
    as_csv = list(csv.DictReader(io.StringIO((out / "table.csv").read_text("utf-8"))))
    assert [float(row["bits_per_byte"]) for row in as_csv] == [
        row["bits_per_byte"] for row in library.table
    ]
    latex = (out / "table.tex").read_text("utf-8")
    assert latex.count("\\\\\n") == 3
    small = file.with_name("small.toml")
    small.write_text(settings.replace("280,", "200, 280,"), encoding="utf-8")
    lines = run("experiment", small).output.splitlines()
    assert [
        line for line in lines if line.startswith("not trained: 200 tokens: A vocabulary of 200")
    ]
    # The file that was written repeats the experiment from its own folder.
    again = out / "experiment.toml"
    assert stable(bpe.experiment(again)) == stable(library)
    made = tomllib.loads(again.read_text("utf-8"))["made"]
    assert made["fingerprints"] == {row.name: row.figures["fingerprint"] for row in library.rows}
    (tmp_path / "texts" / "000.txt").write_text("another text", "utf-8")
    with pytest.raises(bpe.CorpusError, match="not the one of this experiment"):
        bpe.experiment(again)


def test_corpora_do_not_train_on_what_another_holds_out():
    shared = texts()
    corpora = {"small": shared[:60], "large": shared}
    experiment = bpe.experiment({"vocab_sizes": [280], "held_out": 0.3}, corpora)
    assert [row.name for row in experiment.rows] == ["small, 280", "large, 280"]
    assert len({len(row.tokens_by_unit) for row in experiment.rows}) == 1


def test_a_text_of_its_own_is_held_out_and_a_base_is_given(tmp_path: Path):
    shared, new = texts()[:3], [f"a new text {n} for the bare reader\n" for n in range(40)]
    (tmp_path / "new").mkdir()
    for number, text in enumerate([*shared, *new]):
        (tmp_path / "new" / f"{number:02}.txt").write_text(text, encoding="utf-8")
    base = bpe.train(texts(40), vocab_size=300).tokenizer
    bpe.save(base, tmp_path / "mine")
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts()))
    lines = """vocab_sizes = [280]
extend = ["mine"]
new_tokens = [5]
parallel = []
held_out_files = ["new"]
corpora = {a = "texts.jsonl", b = "texts.jsonl"}
"""
    file = tmp_path / "own.toml"
    file.write_text(lines, "utf-8")
    found = bpe.experiment(file)
    training, held_out = bpe.Corpus.from_documents(texts()).hold_out(
        bpe.read_corpus(tmp_path / "new")
    )
    assert len(training.documents) == 87
    assert int(found.bytes_by_unit.sum()) == held_out.n_bytes
    (row,) = [row for row in found.rows if row.name == "a, 280"]
    alone = bpe.train(training, vocab_size=280).tokenizer
    assert row.figures["n_tokens"] == sum(map(len, alone.encode_batch([*held_out.documents])))
    settings = {**tomllib.loads(lines), "held_out_files": []}
    given = bpe.experiment(
        settings, {"a": texts(), "b": texts()}, bases={"mine": base}, held_out=[*shared, *new]
    )
    assert [row.name for row in given.rows] == ["a, 280", "a, mine, +5", "b, 280", "b, mine, +5"]
    for one, other in zip(stable(found), stable(given), strict=True):
        assert one == other
    assert found.settings["held_out_files"] == ["new"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "again.toml").write_text(found.to_toml(str(tmp_path / "out")), "utf-8")
    again = bpe.experiment(tmp_path / "out" / "again.toml")
    assert [row["bits_per_byte"] for row in stable(again)] == [
        row["bits_per_byte"] for row in stable(found)
    ]
    other = library_encoder(described(word_piece()))
    with pytest.raises(bpe.FormatError, match="cannot be adapted"):
        bpe.experiment(settings, {"a": texts(), "b": texts()}, bases={"mine": other})


def test_the_answer_names_a_row_and_each_base_has_its_own(tmp_path: Path):
    experiment = found()
    row = experiment.rows[experiment.recommended]
    assert f"{row.figures['vocab_size']:,} tokens" in experiment.answer
    assert experiment.answer.startswith("Take ")
    assert experiment.answer.endswith(".")
    one = bpe.experiment({"vocab_sizes": [280], "held_out": 0.3}, {"mine": texts()})
    assert (
        one.answer
        == "Take 280 tokens, the only size that was tried: try others, to see what they save."
    )
    # An extended base has a far larger vocabulary, and a sentence of its own.
    assert row.settings["base"] is None
    base = str(tmp_path / "base.json")
    bpe.save(bpe.train(texts(40), vocab_size=300).tokenizer, base)
    extended = {"extend": ["gpt2", base], "new_tokens": [1], "parallel": []}
    both = bpe.experiment({"vocab_sizes": [280], "held_out": 0.3, **extended}, {"mine": texts()})
    own, *others = both.answer.split(" If you extend ")
    assert own == one.answer
    assert both.recommended == 0
    for words, name, place, times in zip(
        others, ("gpt2", base), (1, 2), ("179", "1.1"), strict=True
    ):
        size, saving = both.rows[place].figures["vocab_size"], both.saving(place, 0).percent_fewer
        assert words == (
            f"{name} instead, take {size:,} tokens, the only size that was tried: try others, to "
            f"see what they save. It takes {saving:.1f}% fewer tokens than the first, with {times} "
            "times the vocabulary."
        )
    sizes = [experiment.rows[place].figures for place in experiment.frontier]
    assert [each["vocab_size"] for each in sizes] == sorted(each["vocab_size"] for each in sizes)
    bits = [each["bits_per_byte"] for each in sizes]
    assert bits == sorted(bits, reverse=True)


def laid(
    sizes: Sequence[int], saves: Callable[[float], float], n_units: int, unlike: float
) -> bpe.Experiment:
    """Return an experiment with rows of these sizes; a doubling from v on saves `saves(v)` %.

    Units are of many lengths, compress unlike each other by the share `unlike`, and save by it too.
    """
    draw = np.random.default_rng(1)
    n_bytes = (draw.lognormal(12, 1, n_units)).astype(np.int64)
    level, gain = 1 + unlike * draw.uniform(-1, 1, (2, n_units))
    left, at = {256.0: 0.0}, 256.0
    while at < max(sizes):  # the logarithm of the tokens left, by small steps of the size
        left[at * 2**0.01] = left[at] + 0.01 * np.log1p(-saves(at) / 100)
        at *= 2**0.01
    rows: list[ExperimentRow] = []
    for size in sizes:
        tokens = n_bytes / 2 * level * np.exp(np.interp(size, [*left], [*left.values()]) * gain)
        figures = {
            "vocab_size": size,
            "n_tokens": int(tokens.astype(np.int64).sum()),
            "bytes_lost": 0,
            "stop_reason": "vocab-size",
        }
        own = {"corpus": "c", "base": None, "pretokenizer": "gpt2", "alphabet": "full"}
        settings = {**own, "trainer": "plain", "vocab_size": size}
        counts = tokens.astype(np.int64)
        rows.append(ExperimentRow(f"{size:,}", settings, figures, counts, counts.astype(float)))
    return bpe.Experiment(tuple(rows), 0, {}, n_bytes, np.zeros(n_units, np.int64))


def test_how_finely_sizes_are_laid_does_not_change_the_answer():
    grids: dict[str, list[int]] = {
        "doubled": [1 << n for n in range(9, 18)],
        "fourfold": [1 << n for n in range(9, 18, 2)],
        "by the half": [round(512 * 1.5**n) for n in range(14)],
        "in steps of 512": [*range(512, 131_073, 512)],
    }
    # From `crossing` on, a doubling saves less than 1 %.
    for unlike, n_units in ((0.0, 60), (0.3, 60), (0.3, 15)):
        for crossing in (3_000, 8_192, 20_000):
            saves = partial(lambda crossing, size: crossing / size, crossing)
            each = [laid(sizes, saves, n_units, unlike) for sizes in grids.values()]
            found = [one.rows[one.recommended].figures["vocab_size"] for one in each]
            assert all(crossing / 2 < size < crossing * 2.5 for size in found), found
    # Documents that differ in level say nothing of what a doubling saves in each of them.
    unlike = laid(grids["doubled"], lambda size: 3.0, 30, 0.5)
    assert unlike.answer.startswith("Take 131,072 tokens, the largest that was tried")
    # A further size that saves nothing is not worth it, whatever the step.
    flat = laid([8_192, 8_704], lambda size: 0.0, 30, 0.0)
    assert flat.rows[flat.recommended].figures["vocab_size"] == 8_192


@pytest.mark.parametrize(
    ("sizes", "saves", "n_units", "unlike", "words"),
    [
        (
            (4096, 8192),
            0.62,
            40,
            0.1,
            "a further 4,096 save 0.6% more (95% interval 0.6–0.6%), less than 1% per doubling.",
        ),
        (
            (4096, 8192),
            1.1,
            30,
            0.9,
            "a further 4,096 save 1.1% more (95% interval 0.9–1.4%), and less than 1% per doubling "
            "is within the interval.",
        ),
        (
            (4096, 8192),
            0.6,
            10,
            0.1,
            "a further 4,096 save 0.6% more, less than 1% per doubling; there are too few "
            "documents for an interval.",
        ),
        (
            (4096, 8192),
            -0.4,
            40,
            0.0,
            "a further 4,096 take 0.4% more tokens (95% interval 0.4–0.4%), less than 1% per "
            "doubling.",
        ),
    ],
)
def test_the_answer_says_what_a_further_size_saves(
    sizes: tuple[int, ...], saves: float, n_units: int, unlike: float, words: str
):
    found = laid(sizes, lambda _: saves, n_units, unlike)
    assert found.answer == f"Take 4,096 tokens: {words}"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "no size to try"),
        ({"vocab_sizes": [300], "sizes": 1}, "'sizes' is not a setting"),
        ({"vocab_sizes": ["300"]}, "list of whole numbers"),
        ({"vocab_sizes": [300], "pretokenizers": ["gpt9"]}, "gpt9"),
        ({"vocab_sizes": [300], "alphabets": ["latin"]}, "is not an alphabet"),
        ({"vocab_sizes": [300], "held_out": 0}, "held_out is 0"),
        ({"vocab_sizes": [300], "held_out_by": "line"}, "what to hold out by"),
        ({"vocab_sizes": [300], "extend": ["gpt2"]}, "go together"),
        ({"vocab_sizes": [300], "against": "none"}, "names no row"),
        ({"vocab_sizes": [100]}, "100"),
        ({"vocab_sizes": [300], "trainers": {}}, "at least one value each"),
        ({"vocab_sizes": [300], "trainers": ["long"]}, "trainers as tables"),
        ({"vocab_sizes": [300], "trainers": {"long": 300}}, "trainers as tables"),
        ({"vocab_sizes": [300], "trainers": {"x": {"veto": "a"}}}, "'veto' of the trainer 'x'"),
        ({"vocab_sizes": [300], "trainers": {"x": {"vetoes": [1]}}}, "vetoes"),
        ({"vocab_sizes": [300], "trainers": {"x": {"weights": ["de"]}}}, "weights as a dict"),
        ({"vocab_sizes": [300], "trainers": {"x": {"weights": {"de": -1}}}}, "above 0"),
        ({"vocab_sizes": [300], "trainers": {"x": {"picky": 2.5}}}, "picky"),
        ({"vocab_sizes": [300], "trainers": {"x": {"superwords_from": 900}}}, "superwords_from"),
        ({"vocab_sizes": [300], "parallel": ["none.csv"]}, "could not be read"),
        ({"vocab_sizes": [*range(300, 1400)]}, "the limit is 1,000"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str):
    with pytest.raises(bpe.BpeError, match=words):
        bpe.experiment(settings, {"mine": texts(40)})


def test_odd_values_of_every_setting_are_named(tmp_path: Path):
    """None ends in a traceback, and each error names the setting and the value."""
    (tmp_path / "t.txt").write_text("".join(texts(40)), "utf-8")
    file = tmp_path / "sizes.toml"
    lists = ("vocab_sizes", "new_tokens", "pretokenizers", "alphabets", "extend", "special_tokens")
    whole = lists[:2]
    odd = {
        "0.0": "0.0 (float)",
        "nan": "nan (float)",
        "false": "False (bool)",
        "1979-05-27": "a value of type date",
        "[[]]": "a value of type list",
        "[{}]": "a value of type dict",
        "[1.5]": "1.5 (float)",
        "[0.0]": "0.0 (float)",
        "[inf]": "inf (float)",
        "[true]": "True (bool)",
        "[false]": "False (bool)",
        "[1979-05-27]": "a value of type date",
        "{}": "a value of type dict",
    }
    cases: list[tuple[str, str, str]] = []
    for name in (*lists, "parallel"):
        more = {"[300, '']": "'' (str)"} if name in whole else {"[0]": "0 (int)", "-1": "-1 (int)"}
        cases += [(f"{name} = {value}", name, words) for value, words in {**odd, **more}.items()]
    for place in ("corpora.x", "corpora.x.sources"):
        more = {"5": "5 (int)", "['t.txt', 1]": "1 (int)"}
        cases += [
            (f"{place} = {value}", "the sources of the corpus 'x'", words)
            for value, words in {**odd, **more}.items()
            if (place, value) != ("corpora.x", "{}")
        ]
    for name in ("text_column", "sha256"):
        cases += [
            (f"corpora.x = {{sources = 't.txt', {name} = {value}}}", name, words)
            for value, words in (("5", "5 (int)"), ("[]", "type list"), ("false", "False (bool)"))
        ]
    for name in ("held_out_by", "reference", "against"):
        cases += [
            (f"{name} = {value}", name, words) for value, words in odd.items() if value[0] != "["
        ]
    for name in ("seed", "min_frequency", "model_entries", "alpha", "held_out"):
        cases += [(f"{name} = {value}", name, "") for value in ("'x'", "-1", "nan", "true", "[1]")]
    cases.append(('parallel = ["a\\u0000b"]', "Parallel", "null"))
    common = {"vocab_sizes": "[300]", "held_out": "0.3", "parallel": "[]", "corpora.x": "'t.txt'"}
    for line, name, words in cases:
        own = line.partition(" ")[0]
        rest = [f"{key} = {value}" for key, value in common.items() if not own.startswith(key)]
        file.write_text("\n".join([*rest, line]), "utf-8")
        with pytest.raises(bpe.BpeError) as raised:
            bpe.experiment(file)
        assert name in str(raised.value), line
        assert words in str(raised.value), line
    with pytest.raises(bpe.BpeError, match="no size"):
        bpe.experiment({"corpora": 5}, {"mine": texts(40)})


def test_the_file_of_an_experiment_is_toml_whatever_the_names_are():
    settings = {"vocab_sizes": [280], "held_out": 0.3, "parallel": []}
    names = ["two\nlines", "two\rlines"]
    found = bpe.experiment(settings, {name: texts() for name in names})
    assert "lines, the only size" in found.answer
    assert [*tomllib.loads(found.to_toml())["corpora"]] == names


def test_wrong_files_are_named(tmp_path: Path):
    file = tmp_path / "sizes.toml"
    for content, words in (
        ("vocab_sizes = [", "not valid TOML"),
        ("vocab_sizes = [300]", "There is no corpus"),
        ("vocab_sizes = [300]\n[corpora]\na = []", "names no files"),
        ('vocab_sizes = [300]\n[corpora]\na = {source = "x"}', "not known"),
    ):
        file.write_text(content, "utf-8")
        printed = run("experiment", file)
        assert printed.exit_code == 1
        assert words in printed.output
    assert "There is no file" in run("experiment", tmp_path / "none.toml").output


def test_a_killed_command_resumes_and_is_equal(tmp_path: Path):
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts()))
    file, work = tmp_path / "sizes.toml", tmp_path / "sizes.work"
    file.write_text(
        'vocab_sizes = [280, 320, 400]\npretokenizers = ["gpt2", "cl100k"]\nheld_out = 0.3\n'
        'alphabets = ["full", "characters"]\nparallel = []\n[corpora]\nmine = "texts.jsonl"\n'
    )
    program = """
import os, signal, sys
from bpe_core.cli import commands
from bpe_core.experiments import running

def write(self, key, record):
    kept(self, key, record)
    if len([*self._folder.glob("*.json")]) == 4:
        os.kill(os.getpid(), signal.SIGKILL)

kept, running._Kept.write = running._Kept.write, write
commands.main(["experiment", sys.argv[1]])
"""
    killed = subprocess.run([sys.executable, "-c", program, str(file)], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    before = {path.name: path.stat().st_mtime_ns for path in work.glob("*.json")}
    assert len(before) == 4
    resumed, whole = (
        json.loads(succeed("experiment", file, "--json", "--work", folder).stdout)
        for folder in (work, tmp_path / "other")
    )
    after = {path.name: path.stat().st_mtime_ns for path in work.glob("*.json")}
    assert len(after) == 12
    assert before.items() <= after.items()
    for found in (resumed, whole):
        for row in found["rows"]:
            for name in MEASURED_ON_THE_MACHINE:
                del row[name]
    assert resumed == whole


def test_a_base_and_sentences_are_found_from_the_folder_of_the_file(tmp_path: Path):
    bpe.save(bpe.train(texts(40), vocab_size=300).tokenizer, tmp_path / "base.json")
    (tmp_path / "two.csv").write_text("English,German\nGood morning,Guten Morgen\n", "utf-8")
    (tmp_path / "text.txt").write_text("".join(texts()), "utf-8")
    file = tmp_path / "more.toml"
    file.write_text(
        'extend = ["base.json"]\nnew_tokens = [5]\nparallel = ["two.csv"]\nheld_out = 0.3\n'
        'corpora = {mine = "text.txt"}\n',
        "utf-8",
    )
    found = bpe.experiment(file)
    assert [row.name for row in found.rows] == ["base.json, +5"]
    assert found.rows[0].figures["vocab_size"] == 305
    (tmp_path / "out").mkdir()
    moved = tmp_path / "out" / "again.toml"
    moved.write_text(found.to_toml(str(moved.parent)), "utf-8")
    assert found.table[0]["gini"] == bpe.experiment(moved).table[0]["gini"]
