"""Train on a file of counts: its figures, the merges, bad files, and Adapt, which needs text."""

from __future__ import annotations

from pathlib import Path

import pytest

import bpe_core as bpe
from tests.app.pages import OpenApp, errors, in_address, unescaped_text, upload
from tests.app.test_train_uploads import figures, open_with
from tests.app.training import assert_press_is_refused, choose, train
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
        train(choose(app, source="Upload", preset=preset))
        run = load_run(in_address(app, "run")).run
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


def test_two_files_of_counts_and_a_damaged_one_are_refused_and_adapt_asks_for_text(
    open_app: OpenApp, counts_file: bytes
) -> None:
    app = open_with(open_app, ("a.parquet", counts_file), ("b.parquet", counts_file))
    assert "bpe merge-counts" in errors(app)
    damaged = counts_file[:4] + bytes(60) + counts_file[64:]
    upload(app, "corpus_uploads", ("a.parquet", damaged))
    assert "a.parquet" in errors(app)
    assert_press_is_refused(app)
    app = open_app("adapt")
    app.segmented_control(key="corpus_source").set_value("Upload").run()
    upload(app, "corpus_uploads", ("counts.parquet", counts_file))
    assert "this page needs the text" in errors(app)
