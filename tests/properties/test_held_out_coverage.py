"""Figures on held-out documents answer for new documents; figures on held-out lines flatter."""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean

import pytest

import bpe_core as bpe
from bpe_core.comparison.parts import TextPart, compute_gain

N_CORPORA = 20
N_SPLITS = 10
N_DOCUMENTS = 400
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]


def word(draw: random.Random) -> str:
    return "".join(draw.choices(SYLLABLES, k=draw.choice((1, 2, 2, 3, 3, 4))))


SHARED = [word(random.Random(seed)) for seed in range(2_000)]
WEIGHTS = [1 / (rank + 1) for rank in range(len(SHARED))]


def document(draw: random.Random) -> str:
    """Return lines of words that all documents share, and of some that no other has."""
    own = [word(draw) + word(draw) for _ in range(10)]
    lines: list[str] = []
    for _ in range(draw.randrange(6, 30)):
        words = draw.choices(SHARED, WEIGHTS, k=10)
        lines.append(" ".join(draw.choice(own) if draw.random() < 0.2 else w for w in words) + "\n")
    return "".join(lines)


class NewDocuments:
    """Documents that nothing was trained on, on which the true figure is measured."""

    def __init__(self, draw: random.Random) -> None:
        self.counts = Counter(
            word for _ in range(2_000) for word in bpe.gpt2().pretokenizer.split(document(draw))
        )
        self.n_of_gpt2 = self.count(bpe.gpt2())

    def count(self, tokenizer: bpe.Tokenizer) -> int:
        """Return the number of tokens; all tokenizers here are cut by GPT-2's pattern."""
        words = tokenizer.encode_batch(list(self.counts))
        return sum(len(ids) * n for ids, n in zip(words, self.counts.values(), strict=True))

    def judge(self, training: bpe.Corpus, held_out: bpe.Corpus) -> tuple[TextPart, float]:
        """Return the figure on held-out text, and the true one."""
        tokenizer = bpe.train(training, bpe.TrainingConfig(1_000)).tokenizer
        gain = compute_gain(bpe.compare(held_out, [tokenizer, bpe.gpt2()]))
        return gain.whole, 100 * (1 - self.count(tokenizer) / self.n_of_gpt2)


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
    new = NewDocuments(draw)
    covered = 0
    errors: list[float] = []
    flattery: list[float] = []
    for _ in range(N_CORPORA):
        documents = [document(draw) for _ in range(N_DOCUMENTS)]
        corpus = bpe.Corpus.from_documents(documents)
        for seed in range(N_SPLITS):
            part, truth = new.judge(*corpus.split(0.1, seed))
            covered += part.low <= truth <= part.high
            errors.append(part.percent_fewer - truth)
        part, truth = new.judge(*lines_apart(documents, draw))
        flattery.append(part.percent_fewer - truth)
    assert covered >= 0.9 * N_CORPORA * N_SPLITS
    assert abs(mean(errors)) < 0.2
    assert mean(flattery) > 0.5
