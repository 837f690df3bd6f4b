"""A comparison in steps: progress, stopping, and samples."""

from __future__ import annotations

from concurrent.futures import CancelledError

import pytest

import bpe_core as bpe
from bpe_core.comparison.parts import compute_gain
from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer
from bpe_core.tokenizer.protocol import TokenColumns
from tests import foreign_models as models
from tests.foreign_models import library_encoder

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
    assert repr(compute_gain(noted)) == repr(compute_gain(whole))
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
    text = "".join(f"line {n} of the naïve hugs, {n} words (漢字).\n" for n in range(16_000))
    corpus = bpe.Corpus.from_documents([text, "short", text[:200_000], ""])
    lengths: list[int] = []
    place = ForeignTokenizer.place_tokens

    def noted(self: ForeignTokenizer, texts: list[str]) -> list[TokenColumns]:
        lengths.append(sum(map(len, texts)))
        return place(self, texts)

    monkeypatch.setattr(ForeignTokenizer, "place_tokens", noted)
    found = bpe.compare(corpus, [bpe.gpt2(), FOREIGN])
    assert max(lengths) < 150_000
    assert len(lengths) > 8
    lengths.clear()
    monkeypatch.setattr(ForeignTokenizer, "parts", lambda _self, text, _size: iter([text]))
    whole = bpe.compare(corpus, [bpe.gpt2(), FOREIGN])
    assert max(lengths) > 600_000
    assert found == whole
    assert repr(compute_gain(found)) == repr(compute_gain(whole))


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


def test_a_sample_is_the_same_each_time_and_spread_over_the_corpus() -> None:
    corpus = bpe.Corpus.from_documents([TEXT * 2, TEXT], names=["a.txt", "b.py"])
    sample = corpus.sample(20_000)
    assert sample == corpus.sample(20_000) != corpus.sample(20_000, seed=1)
    assert abs(sample.n_bytes - 20_000) < 1_000
    assert all(text in corpus.documents[0] for text in sample.documents)
    shares = {each.name: each.share for each in sample.composition().types}
    assert shares[".txt"] == pytest.approx(2 / 3, abs=0.05)
    starts = [
        place.start
        for place, name in zip(sample.places, sample.names, strict=True)
        if name == "a.txt"
    ]
    assert len(starts) >= 10
    assert max(starts) > 0.8 * len(corpus.documents[0])


def test_a_sample_of_weighted_words_has_about_its_size() -> None:
    corpus = CORPORA["words"]
    assert corpus.sample(corpus.n_bytes // 20).n_bytes == pytest.approx(
        corpus.n_bytes / 20, rel=0.05
    )


def test_text_without_a_place_to_cut_has_an_empty_sample() -> None:
    assert bpe.Corpus.from_text("x" * 500_000).sample(1_000).n_bytes == 0
