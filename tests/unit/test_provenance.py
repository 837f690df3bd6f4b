"""Test the lines of the training text that contain a token, and when the search ends."""

from __future__ import annotations

import pytest

import bpe_core as bpe
from bpe_core.vocabulary import SourceLines, token_origin


def test_at_most_two_lines_come_from_each_document() -> None:
    corpus = bpe.Corpus.from_documents(
        ["hug\nhug\nhug", "no", "a hug"], names=["one", "two", "three"]
    )
    run = bpe.train(corpus, bpe.TrainingConfig(258, special_tokens=()))
    found = SourceLines.find(run, corpus, run.merges[0].id)
    assert [(line.document, line.line) for line in found.lines] == [
        ("one", 1),
        ("one", 2),
        ("three", 1),
    ]
    assert not found.is_all


def test_a_long_line_is_cut_around_the_token() -> None:
    corpus = bpe.Corpus.from_text("x " * 300 + "hug " + "y " * 300 + "hug")
    run = bpe.train(corpus, bpe.TrainingConfig(262, "whitespace", special_tokens=()))
    hug = next(merge.id for merge in run.merges if run.tokenizer.vocab[merge.id] == b"hug")
    (line,) = SourceLines.find(run, corpus, hug).lines
    assert len(line.text) == 2 * 110 + 3
    assert [line.text[start:end] for start, end in line.spans] == ["hug"]
    assert line.cut_before
    assert line.cut_after


def test_a_token_that_contains_newlines_is_shown_with_them() -> None:
    corpus = bpe.Corpus.from_text("one\n\n\ntwo\n\n\n")
    run = bpe.train(corpus, bpe.TrainingConfig(258, special_tokens=()))
    newlines = next(m.id for m in run.merges if run.tokenizer.vocab[m.id] == b"\n\n")
    found = SourceLines.find(run, corpus, newlines).lines
    assert found[0].text == "one\n\n"
    assert found[0].spans == ((3, 5),)


def test_part_of_a_character_is_shown_as_the_whole_character() -> None:
    corpus = bpe.Corpus.from_text("日 日 本 本")
    run = bpe.train(corpus, bpe.TrainingConfig(257, special_tokens=()))
    (line,) = SourceLines.find(run, corpus, run.merges[0].id).lines
    assert {line.text[start:end].strip() for start, end in line.spans} <= {"日", "本"}
    assert len(line.spans) == run.merges[0].count


def test_a_search_that_reaches_its_limit_is_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SourceLines, "MAX_SEARCHED", 3_000)
    corpus = bpe.Corpus.from_text("x " * 2_500 + "hug hug")
    run = bpe.train(corpus, bpe.TrainingConfig(262, "whitespace", special_tokens=()))
    hug = next(merge.id for merge in run.merges if run.tokenizer.vocab[merge.id] == b"hug")
    found = SourceLines.find(run, corpus, hug)
    assert found.lines == ()
    assert found.n_searched == 3_000
    assert not found.is_all
    assert token_origin(run, hug).n_made == 2


def test_words_with_counts_have_no_lines() -> None:
    corpus = bpe.Corpus.from_word_counts({"hug": 10})
    run = bpe.train(corpus, bpe.TrainingConfig(257, special_tokens=()))
    found = SourceLines.find(run, corpus, 256)
    assert found.lines == ()


def test_an_unknown_id_is_refused() -> None:
    run = bpe.train(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(257, special_tokens=()))
    with pytest.raises(bpe.InvalidTokenIdError, match="257 tokens, got 999"):
        token_origin(run, 999)


def test_lines_around_held_out_text_have_their_numbers_in_the_document() -> None:
    text = "".join(f"line {n} of hugs\n" for n in range(1, 2_001))
    training, _ = bpe.Corpus.from_text(text, name="a.txt").split(0.1)
    run = bpe.train(training, bpe.TrainingConfig(300))
    hugs = next(merge.id for merge in run.merges if run.tokenizer.vocab[merge.id] == b" hugs")
    found = SourceLines.find(run, training, hugs, n_lines=20).lines
    assert found[-1].line > 100
    assert all(line.text.startswith(f"line {line.line} ") for line in found)
