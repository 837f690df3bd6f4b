"""What is kept by digest must not lend one corpus the names of another."""

from __future__ import annotations

from bpe_core.corpus import Corpus
from ui.corpus_summary import divided, reading_notes


def test_the_same_text_under_other_names_is_divided_under_those_names() -> None:
    texts = [f"document {n} of some\n" for n in range(9)]
    for names in (list("abcdefghi"), list("ABCDEFGHI")):
        corpus = Corpus.from_documents(texts, names=names)
        training, held_out = divided(corpus, 0.3)
        assert held_out.n_bytes
        assert sorted(training.names + held_out.names) == names
        again = divided(corpus, 0.3)
        assert again[0] is training


def test_notes_are_few_and_say_how_many_more_there_are() -> None:
    def read_with(n_notes: int) -> Corpus:
        notes = tuple(f"note {n}" for n in range(n_notes))
        return Corpus(("hug",), ("a",), None, notes, ("cp1252",))

    eight = [f"note {n}" for n in range(8)]
    assert reading_notes(read_with(10)) == [*eight, "And 2 more notes. Read as cp1252."]
    assert reading_notes(read_with(9)) == [*eight, "And 1 more note. Read as cp1252."]
    assert reading_notes(read_with(8)) == eight
    assert reading_notes(Corpus.from_text("hug")) == []
