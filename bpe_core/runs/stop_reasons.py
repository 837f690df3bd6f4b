"""Describe why training stopped, and whether it went too far, the same way everywhere."""

from __future__ import annotations

from typing import Final

from bpe_core.checks import counted
from bpe_core.runs.run import TrainingRun
from bpe_core.types import StopReason

MIN_GAP: Final = 0.25
"""A text of 100 KB has half of this against held-out text of its kind, and one of 10 KB three times
as much if it is learned to the end: see the table in docs/decide.md."""
MIN_SHARE_ONCE: Final = 0.25


def stop_sentence(run: TrainingRun) -> str:
    """Return the reason why training stopped, as a sentence.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.runs import train
    >>> from bpe_core.types import TrainingConfig
    >>> stop_sentence(train(Corpus.from_text("hug hug"), TrainingConfig(300)))
    'It stopped because no pair was left to merge.'
    """
    longest = run.config.max_token_bytes
    limit = "" if longest is None else f" into a token of at most {counted(longest, 'byte')}"
    reasons: dict[StopReason, str] = {
        "vocab-size": f"It stopped because the vocabulary reached {run.tokenizer.vocab_size:,}.",
        "no-pairs": f"It stopped because no pair was left to merge{limit}.",
        "min-frequency": "It stopped because no pair occurs "
        f"{times(run.config.min_frequency)} any longer.",
        "cancelled": "It was cancelled.",
    }
    return reasons[run.stop_reason]


def count_once(run: TrainingRun) -> int:
    """Return how many merges join a pair that occurred only once.

    >>> from bpe_core.runs import train
    >>> count_once(train(["hug hugs"], vocab_size=300))
    2
    """
    return sum(merge.count == 1 for merge in run.merges)


def by_heart_sentence(run: TrainingRun, gap: float | None) -> str:
    """Return a sentence on a run that fits its own text far better than new text; may be empty.

    `gap` is how much better its bytes per token are on that text than on held-out text, such as
    0.5; None without held-out text.

    >>> from bpe_core.runs import train
    >>> run = train(["hug hugs"], vocab_size=300)
    >>> by_heart_sentence(run, 0.5)
    'Learned by heart: a token spells 50% more of the training text than of held-out text, and 2 \
of 4 merges join a pair that occurred only once. Train on more text, or to fewer tokens.'
    >>> by_heart_sentence(run, 0.1)
    ''
    """
    fits = "" if gap is None or gap < MIN_GAP else f"spells {gap:.0%} more of the training text"
    n_once, n = count_once(run), len(run.merges)
    once = ""
    if n_once and n_once >= MIN_SHARE_ONCE * n:
        once = f"{n_once:,} of {n:,} merges join a pair that occurred only once"
    if gap is None and once:
        found = f"Learned by heart: {once}."
    elif fits and once:
        found = f"Learned by heart: a token {fits} than of held-out text, and {once}."
    elif fits:
        found = (
            f"A token {fits} than of held-out text: that was learned by heart in part, or the "
            "held-out text is of another kind."
        )
    else:
        return ""
    return f"{found} Train on more text, or to fewer tokens."


def times(n: int) -> str:
    """Return a number of times in words.

    >>> times(1), times(2), times(1_200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")
