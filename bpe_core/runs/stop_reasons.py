"""Describe why training stopped, the same way on every page."""

from __future__ import annotations

from bpe_core.runs.run import TrainingRun
from bpe_core.types import StopReason


def stop_sentence(run: TrainingRun) -> str:
    """Return the reason why training stopped, as a sentence.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.runs import train
    >>> from bpe_core.types import TrainingConfig
    >>> stop_sentence(train(Corpus.from_text("hug hug"), TrainingConfig(300)))
    'It stopped because no pair was left to merge.'
    """
    longest = run.config.max_token_bytes
    limit = "" if longest is None else f" into a token of at most {longest:,} bytes"
    reasons: dict[StopReason, str] = {
        "vocab-size": f"It stopped because the vocabulary reached {run.tokenizer.vocab_size:,}.",
        "no-pairs": f"It stopped because no pair was left to merge{limit}.",
        "min-frequency": "It stopped because no pair occurs "
        f"{times(run.config.min_frequency)} any longer.",
        "cancelled": "It was cancelled.",
    }
    return reasons[run.stop_reason]


def times(n: int) -> str:
    """Return a number of times in words.

    >>> times(1), times(1_200)
    ('once', '1,200 times')
    """
    return "once" if n == 1 else f"{n:,} times"
