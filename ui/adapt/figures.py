"""Compute what an extended run gains, on its held-out text and on a general one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting import count_after_new_tokens, list_new_ids
from bpe_core.comparison import IntervalWords, describe_interval, embedding_rows
from bpe_core.corpus import Corpus, load_sample
from bpe_core.runs import TrainingRun
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import read_only
from ui.adapt.swapped import HELD_OUT, general_titles, judged
from ui.host import cached
from ui.look import plain_text
from ui.storage import StoredRun, load_run

FURTHER = 100
"""The number of further tokens whose gain is shown."""
_MAX_NAME_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Further:
    """What some of the added tokens gain."""

    start: int
    """How many tokens come before these."""
    stop: int
    gain: float
    """In per cent of the base's tokens."""
    are_last: bool
    """Whether there are no later ones."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The tokens of a text after each added token."""

    title: str
    n_bytes: int
    tokens: NDArray[np.int64]
    """int64[n], read-only: the base's first, then those after each new token or each of `sizes`."""
    sizes: tuple[int, ...] | None = None
    """After how many changed tokens each of `tokens` was counted, from 0; None after each one."""

    @property
    def fewer(self) -> NDArray[np.float64]:
        """float64[n]: the tokens saved, in per cent of the base's tokens."""
        return 100 * (1 - self.tokens / self.tokens[0])

    def further(self, at: int) -> Further:
        """Return what the tokens after entry `at` gain, or at the end the last ones before it.

        These are at most 100, or those up to the next of the `sizes`.

        >>> gain = Gain("text", 9, np.array([80, 60, 50]), (0, 200, 400))
        >>> gain.further(1), gain.further(2).are_last
        (Further(start=200, stop=400, gain=12.5, are_last=False), True)
        """
        step = FURTHER if self.sizes is None else 1
        last = len(self.tokens) - 1
        are_last = at == last
        start = max(at - step, 0) if are_last else at
        stop = min(start + step, last)
        gain = 100 * int(self.tokens[start] - self.tokens[stop]) / int(self.tokens[0])
        if self.sizes is not None:
            start, stop = self.sizes[start], self.sizes[stop]
        return Further(start, stop, gain, are_last)


def count_cut_rows(run: TrainingRun, kept: int) -> int:
    """Return the embedding rows of a base with a run's first `kept` new tokens, gaps included.

    >>> from bpe_core.adapting import extend
    >>> from bpe_core.tokenizer import gpt2
    >>> run = extend(gpt2(), Corpus.from_text("hugging hugging"), n_tokens=2)
    >>> [count_cut_rows(run, kept) for kept in (0, 2)]
    [50257, 50259]
    """
    # Cutting the tokenizer instead would build it: 0.15 s for GPT-2's vocabulary.
    base = run.truncated(0) if run.given_base is None else run.given_base
    return max(embedding_rows(base), *(id + 1 for id in list_new_ids(run)[:kept]), 0)


def domain_gain(stored: StoredRun) -> Gain:
    """Return the gain on the held-out text; on the training text if nothing was held out."""
    return _domain_gain(stored.id, stored)


@cached(spinner="Counting the tokens")
def _domain_gain(run_id: str, _stored: StoredRun) -> Gain:
    run, held_out = _stored.run, _stored.held_out
    title, tokens = judged(_stored.held_out_tokens_after, run.tokens_after)
    if title == HELD_OUT:
        tokens = count_after_new_tokens(run, tokens, held_out)
        return Gain(title, held_out.n_bytes, read_only(tokens))
    return Gain(title, run.corpus_bytes, training_tokens(run))


def training_tokens(run: TrainingRun) -> NDArray[np.int64]:
    """Return int64[n + 1], read-only: the tokens of the training text after each new token."""
    return read_only(count_after_new_tokens(run, run.tokens_after, run.pretokens))


def how_sure(stored: StoredRun) -> IntervalWords:
    """Return how sure the gain on the held-out text is, if any was held out."""
    base, held_out = stored.run.given_base, stored.held_out
    if base is None or domain_gain(stored).title != HELD_OUT:
        return IntervalWords()
    return _how_sure(stored.id, held_out, stored.run.tokenizer, base)


@cached(spinner="Computing the interval")
def _how_sure(
    run_id: str, _held_out: Corpus, _tokenizer: Tokenizer, _base: Tokenizer
) -> IntervalWords:
    return describe_interval(_held_out, _tokenizer, _base)


def usual_general(title: str) -> str:
    """Return the id of the general text to begin with: none that a run of this title learned."""
    return next(id for id, name in general_titles().items() if name not in title)


@cached(spinner="Counting the tokens of a general text")
def general_gain(run_id: str, sample_id: str) -> Gain:
    """Return the gain of a run on a sample."""
    corpus = load_sample(sample_id)
    return _measured(run_id, general_titles()[sample_id], corpus)


@cached(spinner="Counting the tokens of your text")
def own_gain(run_id: str, sha256: str, _corpus: Corpus) -> Gain:
    """Return the gain of a run on a visitor's own text."""
    return _measured(run_id, "your text", _corpus)


def _measured(run_id: str, title: str, corpus: Corpus) -> Gain:
    run = load_run(run_id).run
    tokens = count_after_new_tokens(run, run.tokens_after_on(corpus), corpus)
    return Gain(title, corpus.n_bytes, read_only(tokens))


def base_name(stored: StoredRun) -> str:
    """Return the name of a run's base, shortened."""
    return plain_text(stored.base.name if stored.base else "its base", _MAX_NAME_LENGTH)
