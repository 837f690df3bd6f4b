"""The cached figures of a corpus, which never carry the names of another corpus."""

from __future__ import annotations

import pytest

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import PatternTimeoutError
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from ui.run import corpus_summary
from ui.run.corpus_summary import divided, pretoken_figures, reading_notes


def test_the_same_text_under_other_names_keeps_those_names_when_divided() -> None:
    texts = [f"document {n} of some\n" for n in range(9)]
    for names in (list("abcdefghi"), list("ABCDEFGHI")):
        corpus = Corpus.from_documents(texts, names=names)
        training, held_out = divided(corpus, 0.3)
        assert held_out.n_bytes
        assert sorted(training.names + held_out.names) == names
        again = divided(corpus, 0.3)
        assert again[0] is training


def test_fewer_divisions_of_large_corpora_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    corpora = [Corpus.from_text(f"line {n}\n" * 100) for n in range(3)]
    small = [divided(corpus, 0.3) for corpus in corpora]
    assert all(divided(corpus, 0.3) is kept for corpus, kept in zip(corpora, small, strict=True))
    monkeypatch.setattr(corpus_summary, "_MOST_BYTES_OF_SMALL", 0)
    large = [divided(corpus, 0.3) for corpus in corpora]
    assert divided(corpora[2], 0.3) is large[2]
    assert divided(corpora[0], 0.3) is not large[0]


def test_a_runaway_pattern_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    n_runs = 0

    def run_away(corpus: Corpus, pretokenizer: Pretokenizer) -> None:
        nonlocal n_runs
        n_runs += 1
        raise PatternTimeoutError("did not finish")

    monkeypatch.setattr(corpus_summary, "count_pretokens", run_away)
    corpus = Corpus.from_text("a pattern runs away here")
    for _ in range(2):
        found = pretoken_figures(corpus, corpus.sha256, r"regex:(a|aa)+$")
        assert found == "did not finish"
    assert n_runs == 1


def test_long_lists_of_notes_are_shortened_and_the_rest_counted() -> None:
    def read_with(n_notes: int) -> Corpus:
        notes = tuple(f"note {n}" for n in range(n_notes))
        return Corpus(("hug",), ("a",), None, notes, ("cp1252",))

    eight = [f"note {n}" for n in range(8)]
    assert reading_notes(read_with(10)) == [*eight, "And 2 more notes. Read as cp1252."]
    assert reading_notes(read_with(9)) == [*eight, "And 1 more note. Read as cp1252."]
    assert reading_notes(read_with(8)) == eight
    assert reading_notes(Corpus.from_text("hug")) == []
