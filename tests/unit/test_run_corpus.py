"""A run is stored with a small corpus or its origin, and with the start of its training text."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.files import write_manifest
from ui.storage import MAX_KEPT, CorpusOrigin, run_files
from ui.storage.run_files import (
    read_run_corpus,
    read_training_text,
    write_run_corpus,
    write_training_text,
)

UPLOAD = CorpusOrigin("upload", "", 8)
HOSTILE = bpe.Corpus.from_documents(
    ["hug\r\nhugs", "", "\ufeffnaïve \x00 日本 🧩", "hug\r\nhugs"], names=["a.txt", "b", "<c>", "b"]
)
CORPUS_FILE = "corpus.json.gz"
TEXT_FILE = "training_text.json.gz"


@pytest.mark.parametrize(
    "corpus", [HOSTILE, bpe.Corpus.from_word_counts({"hugs": 5, "hug": 10**15, "日": 1})]
)
def test_a_small_corpus_is_kept_whole_and_in_order(tmp_path: Path, corpus: bpe.Corpus) -> None:
    write_run_corpus(tmp_path, UPLOAD, corpus)
    kept = read_run_corpus(tmp_path)
    assert kept is not None
    assert kept.corpus is not None
    assert kept.corpus == corpus
    assert kept.corpus.names == corpus.names
    assert list(kept.corpus.word_counts or ()) == list(corpus.word_counts or ())
    assert (kept.origin, kept.n_bytes, kept.sha256) == (UPLOAD, corpus.n_bytes, corpus.sha256)
    for ours, theirs in zip(kept.corpus.split(0.3), corpus.split(0.3), strict=True):
        assert ours == theirs


def test_of_a_sample_and_of_a_large_corpus_only_the_origin_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run_corpus(tmp_path, CorpusOrigin("sample", "notebook", 0), HOSTILE)
    kept = read_run_corpus(tmp_path)
    assert kept is not None
    assert (kept.corpus, kept.origin.sample_id) == (None, "notebook")
    monkeypatch.setattr(run_files, "MAX_CHARACTERS_KEPT", HOSTILE.n_characters - 1)
    write_run_corpus(tmp_path, UPLOAD, HOSTILE)
    kept = read_run_corpus(tmp_path)
    assert kept is not None
    assert (kept.corpus, kept.n_bytes) == (None, HOSTILE.n_bytes)
    assert read_run_corpus(tmp_path / "elsewhere") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("origin", {"source": "disk", "sample_id": "", "held_out_percent": 8}),
        ("origin", {"source": "upload", "sample_id": "", "held_out_percent": 100}),
        ("origin", []),
        ("sha256", "0" * 64),
        ("corpus", {"documents": ["other"], "names": ["x"], "word_counts": None}),
        ("corpus", {"documents": [1], "names": ["x"], "word_counts": None}),
        ("corpus", {"documents": ["a"], "names": [], "word_counts": None}),
        ("n_bytes", None),
    ],
)
def test_a_damaged_or_exchanged_corpus_is_refused(tmp_path: Path, name: str, value: object) -> None:
    write_run_corpus(tmp_path, UPLOAD, HOSTILE)
    kept = json.loads(gzip.decompress((tmp_path / CORPUS_FILE).read_bytes()))
    kept[name] = value
    (tmp_path / CORPUS_FILE).write_bytes(gzip.compress(json.dumps(kept).encode()))
    with pytest.raises(bpe.FormatError, match="corpus kept with this run"):
        read_run_corpus(tmp_path)


def test_a_file_that_its_manifest_does_not_know_is_refused(tmp_path: Path) -> None:
    write_run_corpus(tmp_path, UPLOAD, HOSTILE)
    write_manifest(tmp_path)
    assert read_run_corpus(tmp_path) is not None
    write_run_corpus(tmp_path, CorpusOrigin("paste", "", 8), HOSTILE)
    with pytest.raises(bpe.FormatError, match="corpus kept with this run is damaged"):
        read_run_corpus(tmp_path)


def test_a_corpus_of_another_user_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run_corpus(tmp_path, UPLOAD, HOSTILE)

    def refused(_path: str, _flags: int) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(bpe.NotPermittedError, match="corpus kept with this run belongs to another"):
        read_run_corpus(tmp_path)


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    write_run_corpus(tmp_path, UPLOAD, HOSTILE)
    data = (tmp_path / CORPUS_FILE).read_bytes()
    for size in (0, 1, 12, len(data) - 1):
        (tmp_path / CORPUS_FILE).write_bytes(data[:size])
        with pytest.raises(bpe.FormatError):
            read_run_corpus(tmp_path)


# The training text: all of a short one, the start of a long one


def test_a_short_text_is_kept_whole(tmp_path: Path) -> None:
    write_training_text(tmp_path, HOSTILE)
    kept = read_training_text(tmp_path, HOSTILE.sha256)
    assert kept is not None
    assert kept.is_whole
    assert kept.corpus == HOSTILE
    assert kept.corpus.names == HOSTILE.names


@pytest.mark.parametrize("documents", [["ab", "cde", "f"], ["abcdef"], ["abcd", "ef"]])
def test_only_the_start_of_a_long_text_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: list[str]
) -> None:
    monkeypatch.setattr(run_files, "MAX_KEPT", 4)
    training = bpe.Corpus.from_documents(documents)
    write_training_text(tmp_path, training)
    kept = read_training_text(tmp_path, training.sha256)
    assert kept is not None
    assert not kept.is_whole
    assert "".join(kept.corpus.documents) == "abcd"


def test_the_size_of_the_file_is_limited(tmp_path: Path) -> None:
    line = "".join(map(chr, range(0x4E00, 0x5600)))
    write_training_text(tmp_path, bpe.Corpus.from_text(line * 1_000))
    kept = read_training_text(tmp_path, "")
    assert kept is not None
    assert kept.corpus.n_characters == MAX_KEPT


def test_no_text_is_kept_for_weighted_words(tmp_path: Path) -> None:
    training = bpe.Corpus.from_word_counts({"hug": 10})
    write_training_text(tmp_path, training)
    kept = read_training_text(tmp_path, training.sha256)
    assert kept is not None
    assert kept.corpus.documents == ()


def test_a_folder_without_a_training_text_returns_none(tmp_path: Path) -> None:
    assert read_training_text(tmp_path, "") is None


def test_a_damaged_file_and_the_text_of_another_run_are_refused(tmp_path: Path) -> None:
    training = bpe.Corpus.from_text("hug hugs")
    write_training_text(tmp_path, training)
    with pytest.raises(bpe.FormatError, match="not the one"):
        read_training_text(tmp_path, bpe.Corpus.from_text("other").sha256)
    whole = (tmp_path / TEXT_FILE).read_bytes()
    for damaged in (b"", whole[:-9], whole[:12] + b"\xff\xff" + whole[14:], b"{}"):
        (tmp_path / TEXT_FILE).write_bytes(damaged)
        with pytest.raises(bpe.FormatError, match="damaged"):
            read_training_text(tmp_path, training.sha256)
