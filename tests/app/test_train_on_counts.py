"""Train on a file of counts: its figures, the merges, bad files, and Adapt, which needs text."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import bpe_core as bpe
from tests.app.pages import OpenApp, unescaped_text
from tests.app.test_train_uploads import figures, open_with, upload
from tests.app.training import assert_press_is_refused, choose, in_address, train
from ui.storage.run_store import load_run

TEXT = "hug hugs, pug pugs: été\n" * 40 + "bun bunny\n" * 3
SAMPLE = "hugs and buns\n" * 20


@pytest.fixture
def counts() -> bpe.WordCounts:
    """Return counts whose rare words were dropped."""
    found = bpe.count_words(bpe.Corpus.from_text(TEXT), "whitespace")
    summary = found.summary._replace(floor=2, dropped_words=7, dropped_occurrences=9)
    return bpe.WordCounts(found.pretokens, summary)


@pytest.fixture
def counts_file(counts: bpe.WordCounts, tmp_path: Path) -> bytes:
    path = tmp_path / "counts.parquet"
    bpe.write_counts(counts, path)
    return path.read_bytes()


def _trained(app: AppTest) -> bpe.TrainingRun:
    app = train(app)
    return load_run(in_address(app, "run")).run


@pytest.mark.slow
def test_a_counts_file_trains_the_merges_of_the_command(
    open_app: OpenApp, counts: bpe.WordCounts, counts_file: bytes
) -> None:
    app = open_with(open_app, ("counts.parquet", counts_file))
    assert "7 words that occur fewer than 2 times, 9 occurrences in all" in unescaped_text(app)
    assert "Words cut by whitespace, which training uses too." in unescaped_text(app)
    assert "nothing is held out" in unescaped_text(app)
    assert "so that is the pre-tokenizer, whatever the preset says" in unescaped_text(app)
    for value in (f"{len(counts.pretokens.words):,}", "distinct words", "occurrences"):
        assert value in figures(app)
    for preset in ("GPT-2", "Classroom"):
        run = _trained(choose(app, source="Upload", preset=preset))
        assert run.config.pretokenizer == "whitespace"
        expected = bpe.train(counts, run.config)
        assert run.tokenizer == expected.tokenizer
        assert run.corpus_bytes == expected.corpus_bytes == len(TEXT.encode())
        app.query_params.pop("run")


@pytest.mark.slow
def test_text_beside_the_counts_is_held_out(open_app: OpenApp, counts_file: bytes) -> None:
    files = ("notes.txt", SAMPLE.encode()), ("counts.parquet", counts_file)
    app = open_with(open_app, *files)
    assert "the 280 B uploaded with the counts" in unescaped_text(app)
    app = train(app)
    stored = load_run(in_address(app, "run"))
    assert stored.held_out == bpe.Corpus.from_text(SAMPLE)
    assert stored.held_out_tokens_after is not None
    assert stored.run.corpus_bytes == len(TEXT.encode())


def test_two_files_of_counts_are_refused(open_app: OpenApp, counts_file: bytes) -> None:
    app = open_with(open_app, ("a.parquet", counts_file), ("b.parquet", counts_file))
    assert any("bpe merge-counts" in error.value.replace("\\", "") for error in app.error)


def test_a_damaged_file_of_counts_is_refused(open_app: OpenApp, counts_file: bytes) -> None:
    damaged = counts_file[:4] + bytes(60) + counts_file[64:]
    app = open_with(open_app, ("a.parquet", damaged))
    assert any("a.parquet" in error.value.replace("\\", "") for error in app.error)
    assert_press_is_refused(app)


@pytest.mark.slow
def test_adapt_asks_for_text(open_app: OpenApp, counts_file: bytes) -> None:
    app = open_app("adapt")
    app.segmented_control(key="corpus_source").set_value("Upload").run()
    upload(app, ("counts.parquet", counts_file))
    assert any("this page needs the text" in error.value for error in app.error)
