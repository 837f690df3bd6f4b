"""Preview a pruned vocabulary and its cost in tokens on each text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.vocabulary.audit import uses_in_corpus
from bpe_core.vocabulary.pruning import Pruned, added_in_run, prune
from ui.storage.run_store import StoredRun
from ui.vocabulary.texts import CountedText, held_out_text
from ui.work.task import Progress, Task


@dataclass(frozen=True, slots=True)
class Cost:
    """The length of a text in tokens, before and after pruning."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class PruningPreview:
    """A pruned tokenizer and its cost on each text."""

    pruned: Pruned
    costs: tuple[Cost, ...]


def make_preview(
    tokenizer: Tokenizer,
    uses: NDArray[np.int64],
    text: CountedText,
    stored: StoredRun,
    min_uses: int,
    task: Task[Progress],
) -> PruningPreview | None:
    """Prune the tokens used fewer than `min_uses` times, and compute the cost.

    The cost is given for the text in which uses were counted, and for the run's held-out text.
    Returns None if the task was cancelled.
    """
    pruned = prune(tokenizer, uses, min_uses)
    other = held_out_text(stored)
    to_count: list[tuple[Tokenizer, Corpus]] = []
    if text.corpus is not None:
        to_count.append((pruned.tokenizer, text.corpus))
    if other is not None and other.id != text.id:
        to_count += [(tokenizer, stored.held_out), (pruned.tokenizer, stored.held_out)]
    n_tokens = _counted(to_count, task)
    if n_tokens is None:
        return None
    costs: list[Cost] = []
    before = int(uses.sum())
    if text.corpus is not None:
        costs.append(Cost(text.name, before, n_tokens.pop(0)))
    elif text.run is not None:
        costs.append(Cost(text.name, before, before + added_in_run(text.run.run, pruned)))
    if other is not None and n_tokens:
        costs.append(Cost(other.name, *n_tokens))
    return PruningPreview(pruned, tuple(costs))


def _counted(to_count: list[tuple[Tokenizer, Corpus]], task: Task[Progress]) -> list[int] | None:
    """Return the number of tokens of each corpus with its tokenizer; None if cancelled."""
    sizes = [corpus.n_characters for _, corpus in to_count]
    found: list[int] = []
    for place, (tokenizer, corpus) in enumerate(to_count):

        def should_stop(done: int, of: int, place: int = place) -> bool:
            share = done * sizes[place] // max(1, of)
            task.report(Progress(sum(sizes[:place]) + share, sum(sizes)))
            return task.is_cancelled

        uses = uses_in_corpus(tokenizer, corpus, should_stop)
        if uses is None:
            return None
        found.append(int(uses.sum()))
    return found
