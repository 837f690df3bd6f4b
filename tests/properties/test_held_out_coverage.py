"""Figures on held-out documents answer for new documents; figures on held-out lines flatter.

Where documents of a folder have words in common, only folders answer for those of new folders.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate
from statistics import mean

import pytest

import bpe_core as bpe
from bpe_core.comparison import TextPart

N_CORPORA = 20
N_SPLITS = 10
N_DOCUMENTS = 400
N_FOLDERS = 200
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]


def word(draw: random.Random) -> str:
    return "".join(draw.choices(SYLLABLES, k=draw.choice((1, 2, 2, 3, 3, 4))))


SHARED = [word(random.Random(seed)) for seed in range(2_000)]
WEIGHTS = list(accumulate(1 / (rank + 1) for rank in range(len(SHARED))))
# All of GPT-2's vocabulary would take most of the time.
OTHER = bpe.gpt2().truncated(2_000)


def own_words(draw: random.Random) -> list[str]:
    return [word(draw) + word(draw) for _ in range(5)]


def document(draw: random.Random, own: list[str]) -> str:
    """Return lines of words that all documents share, and of some that only a few have."""
    lines: list[str] = []
    for _ in range(draw.randrange(4, 20)):
        words = draw.choices(SHARED, cum_weights=WEIGHTS, k=5)
        lines.append(" ".join(draw.choice(own) if draw.random() < 0.2 else w for w in words) + "\n")
    return "".join(lines)


def judge(training: bpe.Corpus, held_out: bpe.Corpus, new: str) -> tuple[TextPart, float]:
    """Return the figure on held-out text, and the true one, on new documents."""
    tokenizer = bpe.train(training, bpe.TrainingConfig(1_000)).tokenizer
    gain = bpe.compare(held_out, [tokenizer, OTHER]).gain()
    return gain.whole, 100 * (1 - len(tokenizer.encode_to_numpy(new)) / count_others(new))


@cache
def count_others(new: str) -> int:
    return len(OTHER.encode_to_numpy(new))


def lines_apart(documents: list[str], draw: random.Random) -> tuple[bpe.Corpus, bpe.Corpus]:
    """Hold out a tenth of the lines of every document, as blocks of lines would."""
    training: list[str] = []
    held_out: list[str] = []
    for text in documents:
        lines = text.splitlines(keepends=True)
        chosen = draw.randrange(10)
        training.append("".join(line for n, line in enumerate(lines) if n % 10 != chosen))
        held_out.append("".join(lines[chosen::10]))
    return bpe.Corpus.from_documents(training), bpe.Corpus.from_documents(held_out)


@pytest.mark.slow
def test_nine_of_ten_intervals_have_the_figure_of_new_documents_in_them() -> None:
    draw = random.Random(0)
    # Each ends with a line, so they are cut as if each stood alone.
    new = "".join(document(draw, own_words(draw)) for _ in range(2_000))
    covered = 0
    errors: list[float] = []
    flattery: list[float] = []
    for _ in range(N_CORPORA):
        documents = [document(draw, own_words(draw)) for _ in range(N_DOCUMENTS)]
        corpus = bpe.Corpus.from_documents(documents)
        for seed in range(N_SPLITS):
            part, truth = judge(*corpus.split(0.1, seed), new)
            covered += part.low <= truth <= part.high
            errors.append(part.percent_fewer - truth)
        part, truth = judge(*lines_apart(documents, draw), new)
        flattery.append(part.percent_fewer - truth)
    assert covered >= 0.9 * N_CORPORA * N_SPLITS
    assert abs(mean(errors)) < 0.2
    assert mean(flattery) > 0.5


@pytest.mark.slow
@pytest.mark.more(why="folders are drawn as documents are")
def test_nine_of_ten_intervals_over_folders_have_the_figure_of_new_folders_in_them() -> None:
    draw = random.Random(0)

    def folder() -> list[str]:
        own = own_words(draw)
        return [document(draw, own) for _ in range(draw.randrange(1, 4))]

    new = "".join(text for _ in range(1_000) for text in folder())
    covered = covered_by_document = 0
    errors: list[float] = []
    flattery: list[float] = []
    for _ in range(N_CORPORA):
        texts = {f"{n}/{m}": text for n in range(N_FOLDERS) for m, text in enumerate(folder())}
        corpus = bpe.Corpus.from_documents(list(texts.values()), list(texts))
        for seed in range(N_SPLITS // 2):
            part, truth = judge(*corpus.split(0.2, seed), new)
            covered += part.low <= truth <= part.high
            errors.append(part.percent_fewer - truth)
        part, truth = judge(*corpus.split(0.2, by="document"), new)
        covered_by_document += part.low <= truth <= part.high
        flattery.append(part.percent_fewer - truth)
    assert covered >= 0.9 * N_CORPORA * N_SPLITS // 2
    assert abs(mean(errors)) < 0.2
    assert mean(flattery) > 0.5
    assert covered_by_document < 0.5 * N_CORPORA
