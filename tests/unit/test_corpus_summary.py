"""Cached figures of a corpus, which never include another corpus's names."""

from __future__ import annotations

import pytest

import bpe_core as bpe
from ui.run import corpus_summary
from ui.run.corpus_summary import divided, pretoken_figures


def test_the_same_text_under_other_names_keeps_those_names_when_split() -> None:
    texts = [f"document {n} of some\n" for n in range(9)]
    for names in (list("abcdefghi"), list("ABCDEFGHI")):
        corpus = bpe.Corpus.from_documents(texts, names=names)
        training, held_out = divided(corpus, 0.3)
        assert held_out.n_bytes
        assert sorted(training.names + held_out.names) == names
        again = divided(corpus, 0.3)
        assert again[0] is training


def test_a_runaway_pattern_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    n_runs = 0

    def run_away(corpus: bpe.Corpus, pretokenizer: bpe.Pretokenizer) -> None:
        nonlocal n_runs
        n_runs += 1
        raise bpe.PatternTimeoutError("did not finish")

    monkeypatch.setattr(corpus_summary, "count_corpus", run_away)
    corpus = bpe.Corpus.from_text("a pattern runs away here")
    for _ in range(2):
        found = pretoken_figures(corpus, r"regex:(a|aa)+$")
        assert found == "did not finish"
    assert n_runs == 1
