"""Find the merge to open a run at: one whose pair won narrowly, so that the choice can be seen.

The most frequent pairs of a text are often white space, or win by a wide margin. Such merges
show little of how BPE chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.runs.run import TrainingRun
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import MergeTrace, Pair
from bpe_core.unicode import is_letter

CLOSE_RACE: Final = 0.95
"""A race is close if the runner-up occurs at least this often, as a share of the winner's count."""
_MAX_SEARCHED: Final = 1_000
"""Merges searched from the first merge of letters on; in natural text one of the first 20 is
close."""
_SEARCHED_FIRST: Final = 16
_FACTOR: Final = 4


def opening_step(run: TrainingRun) -> int:
    """Return the step before the first merge of letters with a tie or a close race.

    The runner-up must also be a pair of letters. If there is no such merge within 1,000 merges of
    the first merge of letters, return the step before that one; without merges of letters, 0.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.runs import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_word_counts({"--": 9, "ab": 8, "cd": 4, "ef": 4})
    >>> opening_step(train(corpus, TrainingConfig(260, special_tokens=())))
    2
    """
    learned = run.merges[run.n_term_merges :]  # earlier ones were chosen by the user, not by a race
    first = next((merge.rank for merge in learned if has_letters(run.tokenizer, merge.pair)), None)
    if first is None:
        first = learned[0].rank if learned else 0
    for trace in _traces(run, first):
        for place in np.flatnonzero(is_close(trace)).tolist():
            runner_up = int(trace.top_left[place, 1]), int(trace.top_right[place, 1])
            winner = run.merges[trace.start + place].pair
            if has_letters(run.tokenizer, winner) and has_letters(run.tokenizer, runner_up):
                return trace.start + place
    return first


def is_close(trace: MergeTrace) -> NDArray[np.bool_]:
    """Return bool[n]: which merges of a trace won by a tie or in a close race.

    The trace must hold at least the two most frequent pairs of each merge.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.runs import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_word_counts({"ab": 100, "cd": 95, "ef": 90, "gh": 90, "ij": 85})
    >>> run = train(corpus, TrainingConfig(261, special_tokens=()))
    >>> is_close(run.trace(0, 5, k=2)).tolist()
    [True, False, True, False, False]
    """
    winner, runner_up = trace.top_count[:, 0], trace.top_count[:, 1]
    return (runner_up > 0) & (runner_up >= CLOSE_RACE * winner)


def has_letters(tokenizer: Tokenizer, pair: Pair) -> bool:
    """Return True if both tokens of a pair consist of whole letters and marks only.

    An end-of-word marker at the end of a token is ignored.

    >>> from bpe_core.tokenizer import gpt2
    >>> ids = [gpt2().encode(text)[0] for text in ("in", " the", "g")]
    >>> has_letters(gpt2(), (ids[0], ids[2])), has_letters(gpt2(), (ids[0], ids[1]))
    (True, False)
    """
    return all(_is_letters(tokenizer, id) for id in pair)


def _is_letters(tokenizer: Tokenizer, id: int) -> bool:
    token = tokenizer.vocab[id]
    if tokenizer.end_of_word is not None:
        token = token.removesuffix(tokenizer.end_of_word.encode())
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return False
    return text != "" and all(map(is_letter, text))


def _traces(run: TrainingRun, start: int) -> Iterator[MergeTrace]:
    """Trace the merges from `start` on, in growing parts: the search usually ends in the first."""
    stop = min(start + _MAX_SEARCHED, len(run.merges))
    size = _SEARCHED_FIRST
    while start < stop:
        end = min(start + size, stop)
        yield run.trace(start, end, k=2, n_touched=0, n_changes=0)
        start, size = end, size * _FACTOR
