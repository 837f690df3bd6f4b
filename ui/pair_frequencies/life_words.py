"""Describe a pair's life in words."""

from __future__ import annotations

from bpe_core.runs.pair_lives import PairLife
from bpe_core.runs.run import TrainingRun
from bpe_core.runs.stop_reasons import times
from bpe_core.types import Pair
from ui.look.direction import isolated
from ui.look.labels import counted, escape_markdown, token_label
from ui.run.results import LifePicture


def moment(step: int, n_merges: int) -> str:
    """Name a step of a run.

    >>> moment(45, 3_839), moment(3_839, 3_839), moment(0, 0)
    ('before merge 46', 'after the last merge', 'before any merge')
    """
    if step < n_merges:
        return f"before merge {step + 1:,}"
    return "after the last merge" if n_merges else "before any merge"


def pair_name(run: TrainingRun, pair: Pair) -> str:
    """Return a pair as the labels of its two symbols, the left one on the left in any script.

    >>> from bpe_core.corpus.corpus import Corpus
    >>> from bpe_core.runs.train import train
    >>> from bpe_core.types import TrainingConfig
    >>> pair_name(train(Corpus.from_text("a b"), TrainingConfig(257)), (221, 66))
    '␣ + b'
    """
    labels = (token_label(run.tokenizer.vocab[id]) for id in pair)
    return " + ".join(isolated(label) for label in labels)


def life_sentence(picture: LifePicture, run: TrainingRun) -> str:
    """Describe in Markdown how a pair first appeared, its counts, and how it ended."""
    name = f"**{escape_markdown(pair_name(run, picture.pair))}**"
    life = picture.life
    if life.span is None:
        longest = run.config.max_token_bytes
        lengths = [len(run.tokenizer.vocab[id]) for id in picture.pair]
        if longest is not None and sum(lengths) > longest:
            return f"{name} cannot merge: tokens are limited to {longest:,} bytes."
        return f"{name}: its symbols are never neighbours in this run."
    first, last = life.span
    at_first, at_last = int(life.counts[first]), int(life.counts[last])
    came = "occurs from the start" if first == 0 else f"comes with merge {first:,}"
    born = f"{name} {came}, {times(at_first)}."
    if last in picture.merged_at:
        left_then = "" if at_first == at_last else f"; by then it occurs {times(at_last)}"
        return f"{born} Merge {last + 1:,} joins it{left_then}."
    if not run.merges:
        return f"{born} The run has no merges, so it stays as it is."
    if last == len(run.merges):
        left_then = "as often as at first" if at_first == at_last else times(at_last)
        return f"{born} It never merges: after the last merge it still occurs {left_then}."
    return f"{born} It never merges: other merges use up its symbols, the last merge {last + 1:,}."


def brief_sentence(life: PairLife) -> str:
    """List every point of a short life.

    >>> import numpy as np
    >>> life = PairLife(np.array([9, 9, 0]), np.array([2, 1, 0]), np.array([0, 0, 0]))
    >>> brief_sentence(life)
    'It occurs at only two points of the run: before any merge 9 times, rank 2; after 1 merge \
9 times, rank 1.'
    """
    points: list[str] = []
    for step in range(len(life.counts)):
        count, rank = int(life.counts[step]), int(life.ranks[step])
        if count:
            when = f"after {counted(step, 'merge')}" if step else "before any merge"
            points.append(f"{when} {times(count)}, rank {rank:,}")
    number = "one point" if len(points) == 1 else "two points"
    return f"It occurs at only {number} of the run: {'; '.join(points)}."


def standing_sentence(life: PairLife, step: int, n_merges: int) -> str:
    """Return a sentence on a pair's count and rank at a step.

    >>> import numpy as np
    >>> life = PairLife(np.array([9, 4]), np.array([1, 3]), np.array([0, 2]))
    >>> standing_sentence(life, 1, 1)
    'After the last merge: 4 times, rank 3, tied with 2 more.'
    """
    when = moment(step, n_merges).capitalize()
    count, rank, tied = (int(values[step]) for values in (life.counts, life.ranks, life.n_tied))
    if not count:
        return f"{when}: it does not occur."
    ties = f", tied with {tied:,} more" if tied else ""
    return f"{when}: {times(count)}, rank {rank:,}{ties}."
