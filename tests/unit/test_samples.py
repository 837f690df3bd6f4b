"""The built-in samples."""

from __future__ import annotations

import logging
import sys

import pytest

from bpe_core.corpus import HeldOut, load_sample, parallel_texts, samples
from bpe_core.errors import ConfigError
from bpe_core.unicode import find_script


@pytest.mark.parametrize("sample_id", [sample.id for sample in samples()])
def test_every_sample_loads_and_is_the_same_each_time(sample_id: str) -> None:
    corpus = load_sample(sample_id)
    assert corpus.n_bytes > 0
    assert corpus.notes == ()
    load_sample.cache_clear()
    assert load_sample(sample_id) == corpus


def test_enough_of_the_first_sample_is_held_out_for_an_interval() -> None:
    corpus = load_sample(samples()[0].id)
    held_out = corpus.split(0.08)[1].how
    assert held_out is not None
    assert held_out.n_units >= 1.5 * HeldOut.MIN_UNITS
    assert held_out.share_within == 0
    # Chapters that are topics of their own as well would be in both parts.
    assert {"objects", "builtins: sum", "math: isclose"} <= set(corpus.names)
    assert "specialnames" not in corpus.names


def test_the_first_sample_is_the_same_where_a_server_has_set_hooks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = set(load_sample("python-help").names)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    logging.captureWarnings(True)
    try:
        load_sample.cache_clear()
        found = set(load_sample("python-help").names)
    finally:
        logging.captureWarnings(False)
        load_sample.cache_clear()
    assert found == names
    assert "sys: unraisablehook" in found
    assert "warnings: showwarning" not in found
    assert "builtins: str" in found, "not the method of the module"


def test_samples_have_distinct_ids_titles_and_descriptions() -> None:
    assert len({sample.id for sample in samples()}) == len(samples())
    assert all(sample.title and sample.description.endswith(".") for sample in samples())


def test_the_error_for_an_unknown_sample_lists_the_samples() -> None:
    with pytest.raises(ConfigError, match="'hug'.*'hug-words'"):  # noqa: RUF043 - a pattern
        load_sample("hug")


@pytest.mark.parametrize(
    ("sample_id", "n_documents", "start", "end"),
    [
        ("alice", 12, "Alice was beginning to get very tired", "the happy summer days.\n"),
        ("chaperon-rouge", 1, "Il était une fois une petite fille", "et la mangea.\n"),
        ("rotkaeppchen", 1, "Es war einmal eine kleine süße Dirne", "verboten hat.“\n"),
        ("kong-yiji", 1, "鲁镇的酒店的格局", "大约孔乙己的确死了。\n"),
    ],
)
def test_a_story_is_whole_and_has_no_words_of_its_publisher(
    sample_id: str, n_documents: int, start: str, end: str
) -> None:
    documents = load_sample(sample_id).documents
    assert len(documents) == n_documents
    assert documents[0].startswith(start)
    assert documents[-1].endswith(end)
    assert not any("Gutenberg" in document for document in documents)


def test_the_multilingual_sample_has_the_same_sentences_in_each_language() -> None:
    texts = parallel_texts()
    assert len(texts) >= 20
    assert len({text.code for text in texts}) == len(texts)
    assert {len(text.sentences) for text in texts} == {12}
    sentences = [sentence for text in texts for sentence in text.sentences]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence == sentence.strip() for sentence in sentences)


def test_each_language_is_written_in_the_scripts_it_names() -> None:
    for text in parallel_texts():
        letters = [find_script(character) for character in "".join(text.sentences)]
        found = {script for script in letters if script is not None and letters.count(script) > 2}
        assert found == set(text.scripts), text.name


def test_toy_corpora_have_the_words_of_their_sources() -> None:
    assert load_sample("hug-words").word_counts == {
        "hug": 10,
        "ugg": 5,
        "ggi": 3,
        "gin": 3,
        "ing": 3,
    }
    assert len(load_sample("notebook").documents) == 4
    letters = {c for text in load_sample("pretokenization-notebook").documents for c in text}
    assert "".join(sorted(letters)) == " ,.CFHTabcdefghiklmnoprstuvwyz"
