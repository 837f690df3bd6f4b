"""Words and counts in files: merges equal those of the text, and invalid files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.corpus.counts_file import KEY
from bpe_core.kernels import compile_kernels
from bpe_core.types import TieBreak
from tests.commands import run, succeed
from tests.new_process import run_python

TEXTS = [*load_sample("notebook").documents, "aaaa  aaaa é\u3000漢字 😀\r\n", "it's 1234"]
LARGEST = 2**63 - 1


def write(path: Path, words: Any, counts: Any, count_type: Any = None) -> Path:
    counted = pa.array(counts, count_type or pa.int64())
    pq.write_table(pa.table([pa.array(words), counted], ["word", "count"]), path)
    return path


def as_dict(counts: bpe.WordCounts) -> dict[bytes, int]:
    return dict(zip(counts.pretokens.words, counts.pretokens.counts.tolist(), strict=True))


@pytest.mark.parametrize("name", ["gpt2", "whitespace", "none"])
@pytest.mark.parametrize("tie_break", ["smallest-pair", "first-seen"])
def test_training_on_merged_counts_equals_training_on_the_text(
    tmp_path: Path, name: str, tie_break: TieBreak
) -> None:
    halves = TEXTS[: len(TEXTS) // 2], TEXTS[len(TEXTS) // 2 :]
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for texts, path in zip(halves, paths, strict=True):
        bpe.write_counts(bpe.count_words(bpe.Corpus.from_documents(texts), name), path)
    summary = bpe.merge_counts(paths, tmp_path / "c.parquet")
    config = bpe.TrainingConfig(400, name, alphabet="seen", tie_break=tie_break)
    whole = bpe.train(bpe.Corpus.from_documents(TEXTS), config)
    counted = bpe.train(bpe.read_counts(tmp_path / "c.parquet"), config)
    assert counted.tokenizer == whole.tokenizer
    assert counted.pretokens.words == whole.pretokens.words
    assert counted.tokens_after.tolist() == whole.tokens_after.tolist()
    assert summary.n_bytes == counted.corpus_bytes == whole.corpus_bytes


def test_one_file_of_counts_keeps_the_identity_of_the_corpus(tmp_path: Path) -> None:
    corpus = bpe.Corpus.from_documents(TEXTS)
    bpe.write_counts(bpe.count_words(corpus), tmp_path / "a.parquet")
    assert bpe.read_counts(tmp_path / "a.parquet").summary.sha256 == corpus.sha256


def duckdb(folder: Path, sql: str) -> list[list[Any]]:
    """Run a query in a separate process, because DuckDB reports leaks when its process ends."""
    code = f"import duckdb, json; print(json.dumps(duckdb.connect().execute({sql!r}).fetchall()))"
    return json.loads(run_python(code, folder=folder))


@pytest.mark.slow
def test_counts_by_duckdb_equal_ours_and_are_trained_on(tmp_path: Path) -> None:
    text = " ".join(TEXTS[0].split())
    pq.write_table(pa.table({"text": [text]}), tmp_path / "text.parquet")
    duckdb(
        tmp_path,
        "COPY (SELECT word, count(*) AS count FROM (SELECT unnest(string_split(text, ' ')) AS "
        "word FROM 'text.parquet') GROUP BY word) TO 'counts.parquet'",
    )
    corpus, config = bpe.Corpus.from_text(text), bpe.TrainingConfig(350, "whitespace")
    counted = bpe.read_counts(tmp_path / "counts.parquet")
    ours = bpe.count_words(corpus, "whitespace")
    assert as_dict(counted) == as_dict(ours)
    assert bpe.train(counted, config).tokenizer == bpe.train(corpus, config).tokenizer
    bpe.write_counts(ours, tmp_path / "ours.parquet")
    assert duckdb(tmp_path, "SELECT sum(count)::BIGINT, count(*) FROM 'ours.parquet'") == [
        [ours.pretokens.total, len(ours.pretokens.words)]
    ]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.uint64(), pa.decimal128(20, 0)])
@pytest.mark.parametrize("words", [["hug", "ugg"], [b"hug", b"ugg"]])
def test_whole_numbers_of_any_width_are_read(tmp_path: Path, kind: Any, words: Any) -> None:
    found = bpe.read_counts(write(tmp_path / "a.parquet", words, [10, 5], kind))
    assert found.pretokens.words == (b"hug", b"ugg")
    assert found.pretokens.counts.tolist() == [10, 5]


def test_the_same_word_in_several_rows_is_added_up(tmp_path: Path) -> None:
    found = bpe.read_counts(write(tmp_path / "a.parquet", ["hug", "ugg", "hug"], [1, 2, 3]))
    assert as_dict(found) == {b"hug": 4, b"ugg": 2}


def refusals() -> list[Any]:
    return [
        (["a"], [1.0], pa.float64(), bpe.UnsupportedFileError, "must hold whole numbers"),
        ([1], [1], None, bpe.UnsupportedFileError, "must hold strings or bytes"),
        (["a", None], [1, 1], None, bpe.CorpusError, "a row without a word"),
        (["a"], [None], None, bpe.CorpusError, "a row without a count"),
        ([""], [1], None, bpe.CorpusError, "is empty"),
        (["a"], [-1], None, bpe.CorpusError, "has the count -1"),
        (["a"], [0], None, bpe.CorpusError, "has the count 0"),
        (
            [b"a", b"\xff"],
            [1, 1],
            None,
            bpe.CorpusError,
            "row 2 of a.parquet|row 2 of .*is not valid",
        ),
        (["a"], [2**63], pa.uint64(), bpe.CorpusError, "more than the 9,223,372,036,854,775,807"),
        (["a", "a"], [LARGEST, 1], None, bpe.CorpusError, "add up to 9,223,372,036,854,775,808, "),
        (["a"], [2**62], None, bpe.CorpusError, "9,223,372,036,854,775,808 symbols in all"),
        ([], [], None, bpe.UnsupportedFileError, "must hold strings"),
        (pa.array([], pa.string()), [], None, bpe.EmptyCorpusError, "has no words"),
    ]


@pytest.mark.parametrize(("words", "counts", "kind", "error", "said"), refusals())
def test_invalid_rows_are_refused(
    tmp_path: Path, words: Any, counts: Any, kind: Any, error: type[bpe.BpeError], said: str
) -> None:
    path = write(tmp_path / "a.parquet", words, counts, kind)
    with pytest.raises(error, match=said):
        bpe.read_counts(path)


def test_damaged_files_and_those_without_the_columns_or_of_a_newer_version_are_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"word": ["a"], "n": [1]}), path)
    with pytest.raises(bpe.UnsupportedFileError, match="has no column 'count'"):
        bpe.read_counts(path)
    newer = pa.table({"word": ["a"], "count": [1]}).replace_schema_metadata(
        {"bpe_core": '{"version": 2}'}
    )
    pq.write_table(newer, path)
    with pytest.raises(bpe.UnsupportedFileError, match="version 2"):
        bpe.read_counts(path)
    for data in (b"PAR1 not really", b""):
        path.write_bytes(data)
        with pytest.raises(bpe.UnsupportedFileError, match="not a Parquet file"):
            bpe.read_counts(path)


def test_counts_up_to_the_border_are_added_and_not_beyond(tmp_path: Path) -> None:
    # Each word has one symbol more than bytes: (1 + 1) * (2**62 - 1) + 2 = 2**63.
    write(tmp_path / "a.parquet", ["a"], [2**62 - 2])
    write(tmp_path / "b.parquet", ["a"], [1])
    bpe.merge_counts([tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "c.parquet")
    found = bpe.read_counts(tmp_path / "c.parquet")
    assert found.pretokens.counts.tolist() == [2**62 - 1]
    run = bpe.train(found, bpe.TrainingConfig(257, special_tokens=()))
    assert run.tokens_after.tolist() == [2**62 - 1]
    bpe.merge_counts([tmp_path / "c.parquet", tmp_path / "b.parquet"], tmp_path / "d.parquet")
    with pytest.raises(bpe.CorpusError, match="symbols in all"):
        bpe.read_counts(tmp_path / "d.parquet")
    write(tmp_path / "e.parquet", ["b"], [LARGEST])
    with pytest.raises(bpe.CorpusError, match="more than 64 bits can hold"):
        bpe.merge_counts([tmp_path / "e.parquet", tmp_path / "b.parquet"], tmp_path / "f.parquet")
    assert not (tmp_path / "f.parquet").exists()


@pytest.mark.slow
def test_more_occurrences_than_32_bits_are_trained_rightly(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = "abcdefghij"
    words = {a + b + c: 7 for a in letters for b in letters for c in letters}
    words |= {"jjjj": 2**33, "aab": 2**33 + 1, "hihi": 2**32 - 1, "ij": 2**31}
    words |= {f"{n:06d}": n + 1 for n in range(10_000)}  # enough for kernels to be used
    config = bpe.TrainingConfig(330, "none", special_tokens=())
    compile_kernels()
    counts = bpe.count_words(bpe.Corpus.from_word_counts(words))
    run = bpe.train(counts, config)
    first = [(run.tokenizer.vocab[merge.id], merge.count) for merge in run.merges[:2]]
    # Each of 20 places in the words of three letters adds 7.
    assert first == [(b"jj", 3 * 2**33 + 140), (b"hi", 2 * (2**32 - 1) + 140)]
    monkeypatch.setattr("bpe_core.trainers.fastest.use_kernels", lambda n_bytes: False)
    assert bpe.train(counts, config).merges == run.merges


@pytest.mark.usefixtures("parquet_here")
def test_counts_are_not_taken_for_a_table_of_text(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    bpe.write_counts(bpe.count_words(bpe.Corpus.from_text("hug hugs"), "gpt2"), ours)
    pq.write_table(pa.table({"word": ["hug", "hugs"], "count": [3, 1]}), theirs)
    for path in (ours, theirs):
        with pytest.raises(bpe.UnsupportedFileError, match="bpe train --counts"):
            bpe.read_corpus(path)
    assert bpe.read_corpus(theirs, text_column="word").documents == ("hug", "hugs")


def test_words_of_another_cut_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", ["hug", "hug me"], [1, 2])
    with pytest.raises(bpe.ConfigError, match="gpt2 splits the word 'hug me'"):
        bpe.train(bpe.read_counts(path), bpe.TrainingConfig(300))
    counts = bpe.count_words(bpe.Corpus.from_text("hug me"), "cl100k")
    with pytest.raises(bpe.ConfigError, match="cut by the pre-tokenizer cl100k, not by gpt2"):
        bpe.train(counts, bpe.TrainingConfig(300))
    bpe.write_counts(counts, tmp_path / "b.parquet")
    with pytest.raises(bpe.ConfigError, match=r"an unknown pre-tokenizer and .* by cl100k"):
        bpe.merge_counts([path, tmp_path / "b.parquet"], tmp_path / "c.parquet")


def test_many_words_of_another_cut_are_checked_by_kernels() -> None:
    words = {f"word{n}": 1 for n in range(60_000)}
    counts = bpe.count_words(bpe.Corpus.from_word_counts(words))
    with pytest.raises(bpe.ConfigError, match="gpt2 splits the word 'word0'"):
        bpe.train(counts, bpe.TrainingConfig(300))


def test_the_command_line_counts_merges_and_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(TEXTS[0], encoding="utf-8")

    succeed("count", "a.txt", "--out", "a.parquet")
    succeed("merge-counts", "a.parquet", "a.parquet", "--out", "b.parquet")
    succeed("train", "--counts", "b.parquet", "--vocab-size", "300", "--out", "a.json")
    succeed("train", "a.txt", "a.txt", "--vocab-size", "300", "--out", "b.json")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    refused = run(
        "train", "a.txt", "--counts", "b.parquet", "--vocab-size", "300", "--out", "b.json"
    )
    assert "Omit SOURCE..., --held-out and the" in refused.stderr
    assert run("train", "--vocab-size", "300", "--out", "b.json").exit_code == 2


def test_counts_as_a_corpus_train_the_same_and_survive_the_disk(tmp_path: Path) -> None:
    counts = bpe.count_words(bpe.Corpus.from_text("hug hugs é\n" * 9), "whitespace")
    corpus = bpe.Corpus.from_word_counts(counts, bpe.Corpus.from_text("hug"))
    corpus.save(tmp_path)
    read = bpe.Corpus.open(tmp_path)
    assert read == corpus
    training, held_out = read.split(0.08)
    assert held_out.documents == ("hug",)
    ties: tuple[TieBreak, ...] = ("smallest-pair", "first-seen")
    for tie in ties:
        config = bpe.TrainingConfig(
            270, pretokenizer="whitespace", base="characters", alphabet="seen", tie_break=tie
        )
        expected, run = bpe.train(counts, config), bpe.train(training, config)
        # The line break is in no word, but it is in the text's alphabet.
        assert b"\n" in run.tokenizer.vocab.values()
        assert run.tokenizer == expected.tokenizer
        assert run.corpus_bytes == expected.corpus_bytes
    with pytest.raises(bpe.ConfigError, match="cut by the pre-tokenizer whitespace, not by gpt2"):
        bpe.train(training, bpe.TrainingConfig(270))


@pytest.mark.parametrize("characters", ["hu", "ghu\ud800"])
def test_characters_that_cannot_be_those_of_the_words_are_refused(
    tmp_path: Path, characters: str
) -> None:
    summary = bpe.count_words(["hug"]).summary._replace(characters=characters)
    described = json.dumps({"version": 1, **summary._asdict()}).encode()
    table = pa.table({"word": [b"hug"], "count": [1]}).replace_schema_metadata({KEY: described})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(bpe.UnsupportedFileError, match="metadata"):
        bpe.read_counts(tmp_path / "a.parquet")
