"""The passage that Compare shows, and several files joined into one text."""

from __future__ import annotations

import pytest

import bpe_core as bpe
from ui.compare.passage import Excerpt, excerpts, typical_excerpt
from ui.corpus import own_reading
from ui.corpus.own_reading import joined

LINES = "".join(f"line {n} of a document of some length\n" for n in range(100))


def test_an_excerpt_of_a_long_document_ends_at_the_end_of_a_line() -> None:
    ((name, text, is_whole),) = excerpts(
        bpe.Corpus.from_documents(["short", LINES], names=["a", "b"])
    )
    assert (name, is_whole) == ("b", False)
    assert LINES.startswith(text)
    assert text.endswith("\n")
    # One more line would exceed the limit.
    assert len(text) <= 1_500 < len(text) + len("line 40 of a document of some length\n")


def test_an_excerpt_without_a_line_end_is_cut_at_the_limit() -> None:
    assert excerpts(bpe.Corpus.from_text("x" * 5_000)) == [Excerpt("text", "x" * 1_500, False)]


def test_a_short_document_is_its_own_excerpt() -> None:
    hugs = bpe.Corpus.from_documents(["hug", "pug"], names=["a", "b"])
    assert excerpts(hugs) == [Excerpt("a", "hug", True)]
    assert excerpts(bpe.Corpus.from_word_counts({"hug": 1})) == [Excerpt("", "", True)]


def test_the_typical_excerpt_has_the_same_gain_as_the_whole_corpus() -> None:
    corpus = bpe.Corpus.from_documents(["漢" * 500, "the " * 200, "the漢" * 200], names=list("abc"))
    encoders = [bpe.gpt2(), bpe.gpt2().truncated(0)]
    for document, text in zip("abc", corpus.documents, strict=True):
        percent = bpe.compare(text, encoders).verdict().percent_fewer_tokens
        assert typical_excerpt(corpus, encoders, percent) == Excerpt(document, text, True)


@pytest.mark.parametrize("most", range(9))
def test_documents_are_joined_up_to_the_limit(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(own_reading, "MAX_CHARACTERS", most)
    assert joined(bpe.Corpus.from_documents(["ab", "", "cde"])) == "ab\n\ncde"[:most]
