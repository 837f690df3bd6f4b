"""Run the Vocabulary page's long computations in the background.

They count uses, search for unreachable tokens and preview pruned vocabularies. Each is identified
by its inputs, so visitors who need the same one share it. Short ones finish while the page waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import Corpus
from bpe_core.tokenizer import Encoder, Tokenizer
from bpe_core.vocabulary import (
    Pruned,
    Reachability,
    added_in_run,
    find_unreachable,
    prune,
    uses_in_corpus,
    uses_in_run,
)
from ui.storage import StoredRun
from ui.vocabulary.inspection import CountedText, held_out_text
from ui.work import Progress, Status, Task, WorkKind, queue, stopper

Uses = NDArray[np.int64]
FEW_TOKENS: Final = 5_000
"""A vocabulary of this size is searched for unreachable tokens in a quarter of a second."""
FEW_BYTES: Final = 500_000
"""A text of this size is encoded in a quarter of a second."""


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


SEARCH: Final = WorkKind[Progress, Reachability]("unreachable")
COUNT: Final = WorkKind[Progress, Uses]("uses")
PREVIEW: Final = WorkKind[Progress, PruningPreview]("pruning")


def _make_preview(
    tokenizer: Tokenizer,
    uses: NDArray[np.int64],
    text: CountedText,
    stored: StoredRun,
    min_uses: int,
    task: Task[Progress],
) -> PruningPreview:
    """Prune the tokens used fewer than `min_uses` times, and compute the cost.

    The cost is given for the text in which uses were counted, and for the run's held-out text.
    Raises CancelledError if the task was cancelled.
    """
    pruned = prune(tokenizer, uses, min_uses)
    other = held_out_text(stored)
    to_count: list[tuple[Tokenizer, Corpus]] = []
    if text.corpus is not None:
        to_count.append((pruned.tokenizer, text.corpus))
    if other is not None and other.id != text.id:
        to_count += [(tokenizer, stored.held_out), (pruned.tokenizer, stored.held_out)]
    n_tokens = _counted(to_count, task)
    costs: list[Cost] = []
    before = int(uses.sum())
    if text.corpus is not None:
        costs.append(Cost(text.name, before, n_tokens.pop(0)))
    elif text.run is not None:
        costs.append(Cost(text.name, before, before + added_in_run(text.run.run, pruned)))
    if other is not None and n_tokens:
        costs.append(Cost(other.name, *n_tokens))
    return PruningPreview(pruned, tuple(costs))


def _counted(to_count: list[tuple[Tokenizer, Corpus]], task: Task[Progress]) -> list[int]:
    """Return the number of tokens of each corpus with its tokenizer; raises CancelledError."""
    sizes = [corpus.n_characters for _, corpus in to_count]
    found: list[int] = []
    for place, (tokenizer, corpus) in enumerate(to_count):

        def should_stop(done: int, of: int, place: int = place) -> bool:
            share = done * sizes[place] // max(1, of)
            task.report(Progress(sum(sizes[:place]) + share, sum(sizes)))
            return task.is_cancelled

        found.append(int(uses_in_corpus(tokenizer, corpus, should_stop).sum()))
    return found


def search(tokenizer: Tokenizer) -> Status[Progress, Reachability]:
    """Return the status of the search for unreachable tokens, starting it if needed."""
    id = tokenizer.fingerprint
    is_short = tokenizer.vocab_size <= FEW_TOKENS
    return queue.begin(
        SEARCH, id, lambda task: find_unreachable(tokenizer, stopper(task)), is_short=is_short
    )


def count(encoder: Encoder, text: CountedText) -> Status[Progress, Uses]:
    """Return the status of counting the uses in a text, starting it if needed."""
    id = f"{encoder.fingerprint} {text.id}"
    is_short = text.corpus is None or text.corpus.n_bytes <= FEW_BYTES
    return queue.begin(COUNT, id, partial(_count, encoder, text), is_short=is_short)


def preview(
    tokenizer: Tokenizer, uses: Uses, text: CountedText, stored: StoredRun, min_uses: int
) -> Status[Progress, PruningPreview]:
    """Return the status of the preview of a pruned vocabulary, starting it if needed."""
    id = f"{tokenizer.fingerprint} {text.id} {stored.id} {min_uses}"
    corpora = [stored.held_out, *([text.corpus] if text.corpus is not None else [])]
    is_short = sum(corpus.n_bytes for corpus in corpora) <= FEW_BYTES
    make = partial(_make_preview, tokenizer, uses, text, stored, min_uses)
    return queue.begin(PREVIEW, id, make, is_short=is_short)


def _count(encoder: Encoder, text: CountedText, task: Task[Progress]) -> Uses:
    if text.corpus is not None:
        return uses_in_corpus(encoder, text.corpus, stopper(task))
    if text.run is not None:
        return uses_in_run(text.run.run)
    return np.zeros(max(encoder.vocab) + 1, np.int64)
