"""The training text stored with a run: all of a short one, the start of a long one."""

from __future__ import annotations

from pathlib import Path

import pytest

import bpe_core as bpe
from ui.storage import run_files
from ui.storage.run_files import MAX_KEPT, read_training_text, write_training_text

FILE = "training_text.json.gz"


def test_a_short_text_is_kept_whole(tmp_path: Path) -> None:
    documents = ["hug\r\nhugs", "", "\ufeffnaïve \x00 日本 🧩"]
    training = bpe.Corpus.from_documents(documents, names=["a.txt", "b", "<c>"])
    write_training_text(tmp_path, training)
    kept = read_training_text(tmp_path, training.sha256)
    assert kept is not None
    assert kept.is_whole
    assert kept.corpus == training
    assert kept.corpus.names == training.names


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
    whole = (tmp_path / FILE).read_bytes()
    for damaged in (b"", whole[:-9], whole[:12] + b"\xff\xff" + whole[14:], b"{}"):
        (tmp_path / FILE).write_bytes(damaged)
        with pytest.raises(bpe.FormatError, match="damaged"):
            read_training_text(tmp_path, training.sha256)
