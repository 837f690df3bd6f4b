"""A run is stored with all of a small corpus, but only the origin of a sample or a large one."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.files.store import write_manifest
from ui.storage import run_files
from ui.storage.run_files import CorpusOrigin, read_run_corpus, write_run_corpus

UPLOAD = CorpusOrigin("upload", "", 8)
HOSTILE = bpe.Corpus.from_documents(
    ["hug\r\nhugs", "", "\ufeffnaïve \x00 日本 🧩", "hug\r\nhugs"], names=["a.txt", "b", "<c>", "b"]
)
FILE = "corpus.json.gz"


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
    kept = json.loads(gzip.decompress((tmp_path / FILE).read_bytes()))
    kept[name] = value
    (tmp_path / FILE).write_bytes(gzip.compress(json.dumps(kept).encode()))
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
    data = (tmp_path / FILE).read_bytes()
    for size in (0, 1, 12, len(data) - 1):
        (tmp_path / FILE).write_bytes(data[:size])
        with pytest.raises(bpe.FormatError):
            read_run_corpus(tmp_path)
