"""Figures of several tokenizers on one text equal those computed slowly from their segments."""

from __future__ import annotations

import math
import tracemalloc
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
import regex

import bpe_core as bpe
from bpe_core.comparison import TokenizerMetrics, distinct_ends, measurement
from bpe_core.comparison.measurement import measure
from bpe_core.corpus import load_sample, parallel_texts
from bpe_core.formats import ForeignTokenizer
from bpe_core.tokenizer import TokenColumns
from tests import foreign_models as models
from tests.commands import succeed
from tests.foreign_models import byte_fallback, described, library_encoder, word_piece


def trained(corpus: bpe.Corpus, vocab_size: int, **settings: object) -> bpe.Tokenizer:
    return bpe.train(corpus, bpe.TrainingConfig(vocab_size, **settings)).tokenizer  # type: ignore[arg-type]


MULTILINGUAL = load_sample("multilingual")
BYTES = trained(MULTILINGUAL, 600)
WORDS = trained(
    load_sample("notebook"),
    40,
    pretokenizer="whitespace",
    base="characters",
    alphabet="seen",
    end_of_word="</w>",
    special_tokens=(),
)
CLASSROOM = trained(
    load_sample("hug-words"),
    20,
    pretokenizer="whitespace",
    base="characters",
    alphabet="seen",
    end_of_word="</w>",
    special_tokens=(),
)
TEXTS = [
    "The first document, and 2 more: naïve ☃ 漢字!\n\n  if (x): 😀\n",
    "This is the first document.",
    "\ttabs\r\nand \u00a0 spaces \ufeff",
    "<|endoftext|>",
    *(" ".join(text.sentences[:2]) for text in parallel_texts()),
]


@pytest.mark.parametrize("tokenizer", [BYTES, WORDS, bpe.gpt2()], ids=["bytes", "words", "gpt2"])
@pytest.mark.parametrize("text", TEXTS)
def test_every_figure_equals_that_of_the_segments(tokenizer: bpe.Tokenizer, text: str) -> None:
    (row,) = bpe.compare(text, [tokenizer]).rows
    segments = tokenizer.segments(text)
    tokens = [segment for segment in segments if segment.id is not None]
    assert row.n_tokens == len(tokens)
    assert (row.n_bytes, row.n_characters) == (len(text.encode()), len(text))
    cuts = {segment.byte_end for segment in segments}
    words = [
        (len(text[: match.start()].encode()), len(text[: match.end()].encode()))
        for match in regex.finditer(r"[\p{L}\p{M}\p{N}]+", text)
    ]
    inside = [sum(start < cut < end for cut in cuts) for start, end in words]
    assert row.words.n_words == len(words)
    assert row.words.n_word_tokens == sum(inside) + len(words)
    lost = [segment for segment in segments if segment.id is None]
    spelled = [all(s.byte_end <= a or b <= s.byte_start for s in lost) for a, b in words]
    whole = [not n and fits for n, fits in zip(inside, spelled, strict=True)]
    assert row.words.n_whole_words == sum(whole)

    n_bytes = sum(segment.byte_end - segment.byte_start for segment in tokens)
    n_characters = len(text) - sum(segment.end - segment.start for segment in lost)
    assert row.bytes_per_token == len(text.encode()) / len(tokens)
    assert row.characters_per_token == len(text) / len(tokens)
    assert row.covered_bytes_per_token == n_bytes / len(tokens)
    assert row.covered_characters_per_token == n_characters / len(tokens)
    assert row.dropped_bytes + row.unknown_bytes == sum(s.byte_end - s.byte_start for s in lost)
    if tokenizer is WORDS:
        blank = regex.findall(r"\p{White_Space}", text)
        assert row.dropped_bytes == sum(len(character.encode()) for character in blank)


def test_tokenizers_in_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [tmp_path / name / "models" for name in ("a", "b")]
    for folder in folders:
        bpe.save(BYTES, f"{folder}/")
    bpe.save(BYTES, tmp_path / "b" / "mine.json")
    given = [*folders, tmp_path / "b" / "mine.json", BYTES, "gpt2", "gpt2"]
    named = ["a/models", "b/models", "mine.json", "Tokenizer 4", "GPT-2", "GPT-2 (2)"]
    found = bpe.compare("the bare bytes", given)
    assert found.to_frame()["tokenizer"].tolist() == named
    assert [each.name for each in found.encoders] == named
    assert bpe.compare(bpe.Corpus.from_text("hug"), given).names == tuple(named)
    printed = succeed("compare", "-", *("-t", folders[0], "-t", folders[1]), stdin=b"hug " * 400)
    assert printed.stdout.splitlines()[1].split() == ["a/models", "b/models"]
    assert "a/models needs as many tokens as b/models" in printed.stdout


@pytest.mark.parametrize(
    ("paths", "ends"),
    [
        (["models", "models/"], ["models", "models (2)"]),
        (["../models", "models"], ["../models", "models"]),
        (["/models", "models", "a/models"], ["/models", "models", "a/models"]),
        (["x/a/m", "y/a/m", "x/b/m"], ["x/a/m", "y/a/m", "b/m"]),
        (["hf:org/model", "hf:org/other"], ["model", "other"]),
        ([".", ""], [".", ". (2)"]),
    ],
)
def test_the_shortest_ends_of_paths_that_tell_them_apart(paths: list[str], ends: list[str]) -> None:
    assert distinct_ends(paths) == ends


def test_the_figures_of_a_corpus_are_the_sums_of_its_documents() -> None:
    tokenizers = [BYTES, WORDS]
    whole = bpe.compare(bpe.Corpus.from_documents(TEXTS), tokenizers)
    alone = [bpe.compare(text, tokenizers) for text in TEXTS]
    assert whole.n_documents == len(TEXTS)
    assert whole.segments == ()
    for place in range(2):
        rows = [comparison.rows[place] for comparison in alone]
        row = whole.rows[place]
        assert row.n_tokens == sum(r.n_tokens for r in rows)
        assert row.n_bytes == sum(r.n_bytes for r in rows)
        assert row.words.n_word_tokens == sum(r.words.n_word_tokens for r in rows)
        assert row.words.n_whole_words == sum(r.words.n_whole_words for r in rows)
        assert row.kinds == tuple(map(sum, zip(*(r.kinds for r in rows), strict=True)))
        assert row.unknown_bytes == sum(r.unknown_bytes for r in rows)
        assert row.n_tokens_exclusive == sum(r.n_tokens_exclusive for r in rows)


@pytest.mark.slow
def test_the_figures_do_not_depend_on_how_a_corpus_is_divided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foreign = [library_encoder(described(peer)) for peer in (byte_fallback(), word_piece())]
    tokenizers = [BYTES, WORDS, CLASSROOM, BYTES.truncated(0), *foreign]
    no_place = "漢字" * 30
    long = " ".join([*TEXTS, "zhug hug hugz", no_place, "\ufb01\u2167 \u0130\u0307", *TEXTS])
    corpora = [
        bpe.Corpus.from_text(long),
        bpe.Corpus.from_documents([long, no_place, *TEXTS, "é", "", "ab" * 50]),
    ]
    found: list[list[list[TokenizerMetrics]]] = []
    for n_bytes in (1 << 30, 1, 40):
        monkeypatch.setattr(measurement, "_PIECE", n_bytes)
        found.append([[each.metrics for each in measure(corpora, one)] for one in tokenizers])
    whole, *in_pieces = found
    assert in_pieces == [whole, whole]


@pytest.mark.parametrize("n_documents", [1, 300])
def test_a_large_corpus_needs_only_a_few_times_its_size_in_memory(n_documents: int) -> None:
    corpus = bpe.Corpus.from_documents(
        ["naïve words, no more. " * (60_000 // n_documents)] * n_documents
    )
    # First load what a process loads only once: tables of characters, and the kernels, which are
    # loaded only after twice this text has been encoded.
    bpe.gpt2().encode_to_numpy("".join(corpus.documents) * 2)
    measure([corpus], bpe.gpt2())
    tracemalloc.start()
    try:
        measure([corpus], bpe.gpt2())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * corpus.n_bytes


def test_weighted_words_count_as_often_as_they_occur() -> None:
    word_counts = {"hug": 10, "ugg": 5, "the": 7, "é is\t!": 3}
    documents = [word for word, count in word_counts.items() for _ in range(count)]
    weighted = bpe.compare(bpe.Corpus.from_word_counts(word_counts), [BYTES, WORDS])
    spelled = bpe.compare(bpe.Corpus.from_documents(documents), [BYTES, WORDS])
    assert weighted.rows == spelled.rows
    assert weighted.rows[1].dropped_bytes == 3 * len(" \t")
    assert weighted.rows[1].unknown_bytes == 10 + 5 * 2 + 3 * len("é!".encode())
    assert weighted.n_documents == 0


def test_vocabulary_counts_exclude_special_tokens_and_compare_bytes() -> None:
    comparison = bpe.compare("a", [BYTES, bpe.gpt2()])
    ordinary = [
        {t for i, t in tok.vocab.items() if i not in tok.special_tokens.values()}
        for tok in (BYTES, bpe.gpt2())
    ]
    assert [row.n_exclusive for row in comparison.rows] == [
        len(ordinary[0] - ordinary[1]),
        len(ordinary[1] - ordinary[0]),
    ]


def test_exclusive_tokens_of_a_text_are_those_that_only_one_tokenizer_has() -> None:
    text = TEXTS[5]
    own = set(BYTES.vocab.values()) - set(bpe.gpt2().vocab.values())
    row = bpe.compare(text, [BYTES, bpe.gpt2()]).rows[0]
    assert row.n_tokens_exclusive == sum(BYTES.vocab[i] in own for i in BYTES.encode(text))


def test_the_verdict_compares_two_tokenizers() -> None:
    text = " ".join(parallel_texts()[0].sentences)
    comparison = bpe.compare(text, [BYTES, bpe.gpt2()])
    verdict = comparison.verdict()
    mine, theirs = comparison.rows
    assert verdict.percent_fewer_tokens == 100 * (1 - mine.n_tokens / theirs.n_tokens)
    assert verdict.vocabulary_ratio == 50_257 / 600
    assert (
        verdict.fewer_word_tokens
        + verdict.fewer_punctuation_tokens
        + verdict.fewer_white_space_tokens
        == theirs.n_tokens - mine.n_tokens
    )
    assert comparison.verdict(1, 0).vocabulary_ratio == 600 / 50_257
    assert comparison.verdict(0, 0).percent_fewer_tokens == 0


def test_a_text_without_tokens_has_no_ratio() -> None:
    comparison = bpe.compare(" \n", [WORDS, BYTES])
    assert comparison.rows[0].n_tokens == 0
    assert math.isnan(comparison.rows[0].bytes_per_token)
    assert math.isnan(comparison.rows[0].renyi_efficiency)
    assert math.isnan(comparison.verdict(1, 0).percent_fewer_tokens)


def test_a_tokenizer_that_can_spell_nothing_keeps_no_word_whole_and_saves_no_white_space() -> None:
    row, other = bpe.compare("zzz yyy www", [CLASSROOM, bpe.gpt2()]).rows
    assert (row.n_tokens, row.unknown_bytes, row.dropped_bytes) == (3, 9, 2)
    assert row.words.n_whole_words == 0
    assert row.kinds == (3, 0, 0)
    assert (row.covered_bytes_per_token, row.covered_characters_per_token) == (0, 0)
    assert (row.bytes_per_token, row.characters_per_token) == (11 / 3, 11 / 3)
    assert other.bytes_per_token == 11 / other.n_tokens


def test_a_letter_not_in_the_alphabet_affects_only_its_word() -> None:
    for text in ("zhug hug", "hugz hug", "hzug hug"):
        (row,) = bpe.compare(text, [CLASSROOM]).rows
        assert (row.words.n_words, row.words.n_whole_words) == (2, 1)


def test_a_comparison_without_tokenizers_or_text_is_refused() -> None:
    with pytest.raises(bpe.ConfigError):
        bpe.compare("text", [])
    with pytest.raises(bpe.EmptyCorpusError):
        bpe.compare("", [BYTES])
    with pytest.raises(bpe.EmptyCorpusError):
        bpe.compare(bpe.Corpus.from_text("a").split(0.08)[1], [BYTES])
    with pytest.raises(bpe.InvalidTextError):
        bpe.compare("\ud800", [BYTES])


def test_a_verdict_needs_two_valid_indices() -> None:
    comparison = bpe.compare("bytes", [bpe.gpt2()])
    with pytest.raises(
        bpe.OutOfRangeError, match="a tokenizer as a whole number from 0 to 0, got 1"
    ):
        comparison.verdict()


# In steps: progress, stopping, and samples


FOREIGN = library_encoder(models.described(models.word_piece()))
TEXT = "".join(f"Line {n} of the hugs, {n * n % 97} naïve words (漢字).\n" for n in range(2_000))
CORPORA = {
    "one document": bpe.Corpus.from_text(TEXT * 7),
    "held-out blocks": bpe.Corpus.from_text(TEXT * 30).split(0.2)[1],
    "short documents": bpe.Corpus.from_documents(TEXT.splitlines(keepends=True)),
    "words": bpe.Corpus.from_word_counts({f"word{n}": n + 1 for n in range(1_200)}),
    "a few words": bpe.Corpus.from_word_counts({"hug": 3, "hugs": 5, " ": 2}),
}
each = pytest.mark.parametrize("name", CORPORA)


@pytest.mark.slow
@each
def test_progress_is_even_and_changes_no_figure(name: str) -> None:
    corpus = CORPORA[name]
    reports: list[tuple[int, int]] = []

    def note(done: int, of: int) -> bool:
        reports.append((done, of))
        return False

    encoders = [bpe.gpt2(), FOREIGN]
    whole = bpe.compare(corpus, encoders)
    noted = bpe.compare(corpus, encoders, note)
    assert noted == whole
    assert noted is not None
    # As text, because nan is not equal to itself.
    assert repr(noted.gain()) == repr(whole.gain())
    done = [at for at, _ in reports]
    assert done == sorted(done)
    assert {of for _, of in reports} == {corpus.n_bytes}
    assert done[0] == 0
    assert done[-1] <= corpus.n_bytes
    if corpus.n_bytes > 500_000:
        # The tokenizers advance together, so the first steps are enough to estimate the time left.
        assert len(set(done)) > 4


@pytest.mark.slow
def test_one_long_document_is_encoded_in_parts_without_another_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "".join(f"line {n} of the naïve hugs, {n} words (漢字).\n" for n in range(8_000))
    corpus = bpe.Corpus.from_documents([text, "short", text[:200_000], ""])
    lengths: list[int] = []
    place = ForeignTokenizer.place_tokens

    def noted(self: ForeignTokenizer, texts: list[str]) -> list[TokenColumns]:
        lengths.append(sum(map(len, texts)))
        return place(self, texts)

    monkeypatch.setattr(ForeignTokenizer, "place_tokens", noted)
    found = bpe.compare(corpus, [bpe.gpt2(), FOREIGN])
    assert max(lengths) < 150_000
    assert len(lengths) > 4
    lengths.clear()
    monkeypatch.setattr(ForeignTokenizer, "parts", lambda _self, text, _size: iter([text]))
    whole = bpe.compare(corpus, [bpe.gpt2(), FOREIGN])
    assert max(lengths) > 300_000
    assert found == whole
    assert repr(found.gain()) == repr(whole.gain())


@each
def test_it_stops_when_asked(name: str) -> None:
    asked: list[int] = []

    def stop(done: int, of: int) -> bool:
        asked.append(done)
        return len(asked) == 2

    with pytest.raises(CancelledError):
        bpe.compare(CORPORA[name], [bpe.gpt2(), FOREIGN], stop)
    assert len(asked) == 2


@pytest.mark.slow
def test_tokenizers_alone_and_together_have_the_same_figures() -> None:
    corpus = CORPORA["short documents"]
    alone = [bpe.compare(corpus, [encoder]).rows[0].n_tokens for encoder in (bpe.gpt2(), FOREIGN)]
    n_own = sum(len(bpe.gpt2().encode(text)) for text in corpus.documents)
    n_foreign = sum(len(FOREIGN.encode(text)) for text in corpus.documents)
    assert [row.n_tokens for row in bpe.compare(corpus, [bpe.gpt2(), FOREIGN]).rows] == alone
    assert alone == [n_own, n_foreign]


def test_a_sample_of_weighted_words_has_about_its_size() -> None:
    corpus = CORPORA["words"]
    assert corpus.sample(corpus.n_bytes // 20).n_bytes == pytest.approx(
        corpus.n_bytes / 20, rel=0.05
    )


def test_text_without_a_place_to_cut_has_an_empty_sample() -> None:
    assert bpe.Corpus.from_text("x" * 500_000).sample(1_000).n_bytes == 0


def test_an_empty_document_moves_no_tokens_to_other_files():
    corpus = bpe.Corpus.from_documents(
        ["", "hug", "", "hugs hugs"], ["a.c", "b.txt", "c.c", "d.py"]
    )
    found = bpe.compare(corpus, ["gpt2"])
    assert found.blocks is not None
    files = [found.blocks.files[place] for place in found.blocks.file_of_block]
    tokens = dict(zip(files, found.by_block[0].kinds.sum(axis=1).tolist(), strict=True))
    assert tokens == {
        name: len(bpe.gpt2().encode(text))
        for name, text in zip(corpus.names, corpus.documents, strict=True)
    }
