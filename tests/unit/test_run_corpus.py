"""A run is stored with a small corpus or its origin, and with the start of its training text."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

import bpe_core as bpe
from ui.storage import MAX_KEPT, CorpusOrigin, StoredRun, Trained, load_run, run_store, store_run

UPLOAD = CorpusOrigin("upload", "", 8)
HOSTILE = bpe.Corpus.from_documents(
    ["hug\r\nhugs", "", "\ufeffnaïve \x00 日本 🧩", "hug\r\nhugs"], names=["a.txt", "b", "<c>", "b"]
)
NOTHING = HOSTILE.split(0.0)[1]

pytestmark = pytest.mark.usefixtures("store")


@cache
def hugs() -> bpe.TrainingRun:
    return bpe.train(HOSTILE, bpe.TrainingConfig(258))


def stored(corpus: bpe.Corpus, origin: CorpusOrigin = UPLOAD) -> StoredRun:
    """Store a run with the corpus as where it came from, and as its training text."""
    run = replace(hugs(), corpus_sha256=corpus.sha256)
    return load_run(store_run(Trained("Hugs", run, NOTHING, corpus, (origin, corpus))))


@pytest.mark.parametrize(
    "corpus", [HOSTILE, bpe.Corpus.from_word_counts({"hugs": 5, "hug": 10**15, "日": 1})]
)
def test_a_small_corpus_is_kept_whole_and_in_order(corpus: bpe.Corpus) -> None:
    kept = stored(corpus).came_from
    assert kept is not None
    assert kept.corpus is not None
    assert kept.corpus == corpus
    assert kept.corpus.names == corpus.names
    assert list(kept.corpus.word_counts or ()) == list(corpus.word_counts or ())
    assert (kept.origin, kept.n_bytes, kept.sha256) == (UPLOAD, corpus.n_bytes, corpus.sha256)
    for ours, theirs in zip(kept.corpus.split(0.3), corpus.split(0.3), strict=True):
        assert ours == theirs


def test_of_a_sample_and_of_a_large_corpus_only_the_origin_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = stored(HOSTILE, CorpusOrigin("sample", "notebook", 0)).came_from
    assert kept is not None
    assert (kept.corpus, kept.origin.sample_id) == (None, "notebook")
    monkeypatch.setattr(run_store, "MAX_CHARACTERS_KEPT", HOSTILE.n_characters - 1)
    kept = stored(HOSTILE).came_from
    assert kept is not None
    assert (kept.corpus, kept.n_bytes) == (None, HOSTILE.n_bytes)
    without = load_run(store_run(Trained("Hugs", hugs(), NOTHING)))
    assert (without.came_from, without.training_text) == (None, None)


# The training text: all of a short one, the start of a long one


def test_a_short_text_is_kept_whole() -> None:
    kept = stored(HOSTILE).training_text
    assert kept is not None
    assert kept.is_whole
    assert kept.corpus == HOSTILE
    assert kept.corpus.names == HOSTILE.names


@pytest.mark.parametrize("documents", [["ab", "cde", "f"], ["abcdef"], ["abcd", "ef"]])
def test_only_the_start_of_a_long_text_is_kept(
    monkeypatch: pytest.MonkeyPatch, documents: list[str]
) -> None:
    monkeypatch.setattr(run_store, "MAX_KEPT", 4)
    kept = stored(bpe.Corpus.from_documents(documents)).training_text
    assert kept is not None
    assert not kept.is_whole
    assert "".join(kept.corpus.documents) == "abcd"


def test_the_size_of_the_text_is_limited() -> None:
    line = "".join(map(chr, range(0x4E00, 0x5600)))
    kept = stored(bpe.Corpus.from_text(line * 1_000)).training_text
    assert kept is not None
    assert kept.corpus.n_characters == MAX_KEPT


def test_no_text_is_kept_for_weighted_words() -> None:
    kept = stored(bpe.Corpus.from_word_counts({"hug": 10})).training_text
    assert kept is not None
    assert kept.corpus.documents == ()
