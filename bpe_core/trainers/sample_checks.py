"""Find out by training on parts of a text whether it is large enough, and which cut suits it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from bpe_core.corpus import Corpus, to_corpus
from bpe_core.errors import ConfigError
from bpe_core.trainers.run import TrainingRun, count_ids
from bpe_core.trainers.training import train
from bpe_core.types import TrainingConfig, TrainingProgress

N_HALVINGS: Final = 6
_HELD_OUT: Final = 0.08


class SampleFigures(NamedTuple):
    """A tokenizer trained on a part of a sample, compared with the one trained on all of it."""

    share: float
    """The part of the training text: 1/64, 1/32, ..., 1."""
    n_bytes: int
    """The size of that part."""
    n_merges: int
    share_of_equal_tokens: float
    """The share of the learned tokens of the largest vocabulary that this one has too."""
    weighted_jaccard: float
    """The overlap of both vocabularies, each token weighted by its share of the held-out tokens."""
    bytes_per_token: float
    """On the held-out text."""


def sample_check(
    corpus: Corpus | Iterable[str],
    config: TrainingConfig,
    *,
    n_halvings: int = N_HALVINGS,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[SampleFigures]:
    """Train on 1/64, 1/32, ... and all of a sample; return how much each vocabulary differs.

    If half of the sample gives nearly the same vocabulary as all of it, and as few tokens, more
    text would change little. 8% of the text is held out from all trainings. The weighted Jaccard
    index is the sum of the smaller over the sum of the larger weights, as in "How Much is Enough?
    The Diminishing Returns of Tokenization Training Data" (arXiv:2502.20273).

    `on_progress` is called with the merges learned so far, and those of all trainings. Raises what
    `train` raises, CorpusError for another argument, and ConfigError for a corpus too small to be
    divided.

    >>> corpus = Corpus.from_text("a line of hugs\\n" * 2_000)
    >>> [each.share for each in sample_check(corpus, TrainingConfig(260), n_halvings=2)]
    [0.25, 0.5, 1.0]
    """
    corpus = to_corpus(corpus)
    _check_text(corpus)
    training, held_out = corpus.split(_HELD_OUT)
    return check_parts(training, held_out, config, n_halvings=n_halvings, on_progress=on_progress)


def check_parts(
    training: Corpus,
    held_out: Corpus,
    config: TrainingConfig,
    *,
    trained: TrainingRun | None = None,
    n_halvings: int = N_HALVINGS,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> list[SampleFigures]:
    """Do the same for a training text that is already divided; raises CancelledError if stopped.

    `trained` is the run on all of the training text, if there is one. Without held-out text, 8% of
    the training text is held out. Raises what `sample_check` raises.

    >>> corpus = Corpus.from_text("a line of hugs\\n" * 2_000)
    >>> check_parts(corpus, corpus, TrainingConfig(260), n_halvings=1)[-1].n_bytes
    30000
    """
    _check_text(training)
    if not held_out.n_bytes:
        (training, held_out), trained = training.split(_HELD_OUT), None
    parts = [training.sample(training.n_bytes >> place) for place in range(n_halvings, -1, -1)]
    if not held_out.n_bytes or not all(part.n_bytes for part in parts):
        raise ConfigError(
            f"A corpus of {training.n_bytes + held_out.n_bytes:,} bytes is too small to be divided "
            f"into {1 << n_halvings} parts. Give more text, or text with more lines."
        )
    n_trainings = len(parts) - (trained is not None)
    runs: list[TrainingRun] = []

    def report(progress: TrainingProgress) -> None:
        if on_progress is not None:
            wanted = progress.merges_wanted
            on_progress(len(runs) * wanted + progress.merges_done, n_trainings * wanted)

    for part in parts[:n_trainings]:
        runs.append(train(part, config, report, should_stop))
        if should_stop is not None and should_stop():
            raise CancelledError
    if trained is not None:
        runs.append(trained)
    weights = [_weights(run, held_out) for run in runs]
    last, of_last = _learned(runs[-1]), weights[-1]
    return [
        SampleFigures(
            share=0.5 ** (n_halvings - place),
            n_bytes=part.n_bytes,
            n_merges=run.tokenizer.n_merges,
            share_of_equal_tokens=len(_learned(run) & last) / max(1, len(last)),
            weighted_jaccard=_weighted_jaccard(weights[place], of_last),
            bytes_per_token=held_out.n_bytes / max(1, int(run.tokens_after_on(held_out)[-1])),
        )
        for place, (part, run) in enumerate(zip(parts, runs, strict=True))
    ]


def _check_text(corpus: Corpus) -> None:
    if corpus.word_counts is not None:
        raise ConfigError(
            "A sample is divided by its text, and this corpus has words with counts. Give text."
        )


def _learned(run: TrainingRun) -> set[bytes]:
    return {run.tokenizer.vocab[merge.id] for merge in run.tokenizer.merges}


def _weights(run: TrainingRun, text: Corpus) -> dict[bytes, float]:
    """Return the share of each token in a text."""
    tokenizer = run.tokenizer
    counts = count_ids(tokenizer, text.documents)
    shares = counts / max(1, int(counts.sum()))
    return {tokenizer.vocab[id]: float(shares[id]) for id in np.flatnonzero(counts).tolist()}


def _weighted_jaccard(one: dict[bytes, float], other: dict[bytes, float]) -> float:
    """Return the sum of the smaller weights over the sum of the larger ones.

    >>> _weighted_jaccard({b"a": 0.5, b"b": 0.5}, {b"a": 1.0})
    0.3333333333333333
    """
    tokens = one.keys() | other.keys()
    weights = [(one.get(token, 0.0), other.get(token, 0.0)) for token in tokens]
    return sum(map(min, weights)) / sum(map(max, weights)) if weights else 1.0


def tokens_by_cut(
    training: Corpus,
    held_out: Corpus,
    config: TrainingConfig,
    cuts: Iterable[str],
    *,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, int]:
    """Train with each pre-tokenizer, and return the tokens of the held-out text.

    Raises what `train` raises, and CancelledError once `should_stop` returns True.

    >>> corpus = Corpus.from_text("in 2024 and 2025\\n" * 40)
    >>> tokens_by_cut(corpus, corpus, TrainingConfig(270), ["gpt2", "whitespace"])
    {'gpt2': 200, 'whitespace': 160}
    """
    found: dict[str, int] = {}
    for cut in cuts:
        run = train(training, replace(config, pretokenizer=cut), should_stop=should_stop)
        if should_stop is not None and should_stop():
            raise CancelledError
        found[cut] = int(run.tokens_after_on(held_out)[-1])
    return found
