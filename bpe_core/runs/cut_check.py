"""Find out which pre-tokenizer suits a text: train with each, and count tokens of held-out text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig


def tokens_by_cut(
    training: Corpus,
    held_out: Corpus,
    config: TrainingConfig,
    cuts: Iterable[str],
    *,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, int] | None:
    """Train with each pre-tokenizer; return the tokens of the held-out text, or None if stopped.

    Raises what `train` raises.

    >>> corpus = Corpus.from_text("in 2024 and 2025\\n" * 40)
    >>> tokens_by_cut(corpus, corpus, TrainingConfig(270), ["gpt2", "whitespace"])
    {'gpt2': 200, 'whitespace': 160}
    """
    found: dict[str, int] = {}
    for cut in cuts:
        run = train(training, replace(config, pretokenizer=cut), should_stop=should_stop)
        if should_stop is not None and should_stop():
            return None
        found[cut] = int(run.tokens_after_on(held_out)[-1])
    return found
