"""A corpus comes back from its files, and damaged files are refused."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import bpe_core as bpe

HOSTILE = bpe.Corpus.from_documents(
    ["hug hugs\r\n" * 50, "", "\ufeffкот 漢字 😀 \0 <b>"], ["../a.txt", "b", "<script>"]
)


@pytest.mark.parametrize(
    "corpus", [HOSTILE, bpe.Corpus.from_word_counts({"hug": 10, "кот": 2**40})]
)
def test_a_corpus_comes_back_from_its_files(corpus: bpe.Corpus, tmp_path: Path) -> None:
    corpus.save(tmp_path)
    found = bpe.Corpus.open(tmp_path)
    assert found == corpus
    assert (found.documents, found.names) == (corpus.documents, corpus.names)
    assert (found.n_bytes, found.n_characters) == (corpus.n_bytes, corpus.n_characters)


@pytest.mark.parametrize("name", ["text", "lengths.npy", "corpus.json"])
def test_a_damaged_corpus_is_refused(name: str, tmp_path: Path) -> None:
    HOSTILE.save(tmp_path)
    data = (tmp_path / name).read_bytes()
    for damaged in (b"", data[:-1], data[:20], bytes([data[0] ^ 1]) + data[1:]):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(bpe.FormatError):
            bpe.Corpus.open(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(bpe.FormatError):
        bpe.Corpus.open(tmp_path)


def test_threads_read_one_file_of_documents(tmp_path: Path):
    corpus = bpe.Corpus.from_documents([f"{n:04}" * 2_000 for n in range(200)])
    corpus.save(tmp_path)
    on_disk = bpe.Corpus.open(tmp_path, stays_on_disk=True).documents
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            each = [*pool.map(lambda _: on_disk[:], range(20))]
    finally:
        sys.setswitchinterval(before)
    assert all(texts == corpus.documents for texts in each)
