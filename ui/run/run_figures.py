"""Compute and cache the figures of a run that several pages show, and keep the step shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.comparison import embedding_rows
from bpe_core.trainers import PairCount, PairLife, PairLives, PairPicture, RunCurves, TrainingRun
from bpe_core.types import Pair
from ui.host import cached
from ui.shell import OpenRun, linked_number, workspace
from ui.storage import StoredRun, load_run

N_TOP_PAIRS = 12
N_TABLE_PAIRS = 1_000
_MAX_POINTS_OF_BRIEF_LIFE = 2
_MIN_POINTS_OF_CURVE = 10


@dataclass(frozen=True, slots=True)
class LifePicture:
    """One pair over a whole run, as the page shows it."""

    pair: Pair
    life: PairLife
    merged_at: tuple[int, ...]
    """The ranks of its merges: none or one, rarely more."""
    drawn_counts: NDArray[np.int64]
    """int64[n]: the steps at which its curve of counts is drawn."""
    drawn_ranks: NDArray[np.int64]
    """int64[n]: the steps at which its curve of ranks is drawn."""

    @property
    def is_brief(self) -> bool:
        """Whether it occurs at too few steps for a curve."""
        return 0 < int(np.count_nonzero(self.life.counts)) <= _MAX_POINTS_OF_BRIEF_LIFE


@cached()
def opening_step(run_id: str) -> int:
    """Return the step to open a run at: before the first merge of letters that is won narrowly."""
    return load_run(run_id).run.opening_step


@cached(spinner="Counting pairs")
def pair_picture(run_id: str, step: int) -> PairPicture:
    """Return the pairs of a run after `step` merges."""
    return load_run(run_id).run.picture_pairs(step, N_TABLE_PAIRS, N_TOP_PAIRS)


def all_pairs(
    run_id: str, step: int
) -> tuple[list[PairCount], Mapping[int, bytes], Mapping[Pair, int]]:
    """Return every pair after `step` merges, the vocabulary, and the ranks of the later merges."""
    run = load_run(run_id).run
    pairs = run.top_pairs(step, len(run.pair_counts(step)))
    return pairs, run.tokenizer.vocab, run.next_merges(step)


@cached()
def pair_life(run_id: str, pair: Pair) -> LifePicture:
    """Return the count and the rank of a pair at each step of a run."""
    life = _pair_lives(run_id).find(pair)
    return LifePicture(
        pair=pair,
        life=life,
        merged_at=tuple(m.rank for m in load_run(run_id).run.merges if m.pair == pair),
        drawn_counts=life.drawn_counts,
        drawn_ranks=life.drawn_ranks,
    )


@cached()
def pair_to_follow(run_id: str, step: int) -> Pair | None:
    """Return the pair whose life is shown at a step until one is chosen; None without pairs.

    This is the pair that merges next, if it has existed long enough for a curve. At the step that a
    run opens at, and where the pair that merges next is too young, return the pair among the bars
    whose rank rises and falls the most.
    """
    pairs = [(pair.left, pair.right) for pair in pair_picture(run_id, step).top[:N_TOP_PAIRS]]
    if not pairs:
        return None
    lives = _pair_lives(run_id)
    n_steps = {pair: lives.count_steps(pair) for pair in pairs}
    if step != opening_step(run_id) and n_steps[pairs[0]] >= _MIN_POINTS_OF_CURVE:
        return pairs[0]
    return max(pairs, key=lambda pair: (lives.find(pair).rank_swing, n_steps[pair]))


@cached(spinner="Following every pair")
def _pair_lives(run_id: str) -> PairLives:
    return PairLives(load_run(run_id).run)


@cached()
def run_curves(run_id: str) -> RunCurves:
    """Return the curves of a run over its merges."""
    stored = load_run(run_id)
    return stored.run.curves(stored.held_out.n_bytes, stored.held_out_tokens_after)


def first_step(stored: StoredRun) -> int:
    """Return the step in the address, else the one last shown, else the run's opening step.

    An address without a step that the browser's Back leads to means the opening step.
    """
    n_merges = len(stored.run.merges)
    step: int | None = linked_number("step", -1, n_merges, what="a step of this run,")
    if step < 0:
        step = None if workspace.is_from_history() else workspace.get(OpenRun).step
    return opening_step(stored.id) if step is None else min(step, n_merges)


def keep_step(stored: StoredRun, step: int) -> None:
    """Remember the step that a page shows, and put it in the address.

    A first visit adds no entry to the browser's history, so an address without a step is
    left alone at the opening step.
    """
    workspace.update(OpenRun, step=step)
    if workspace.query_text("step") is not None or step != opening_step(stored.id):
        workspace.set_query(step=step)


def rows_of_cuts(run: TrainingRun) -> NDArray[np.int64]:
    """Return the rows of an embedding for a run cut after each new token, and before the first.

    Gaps count, and so do the ids of tokens that were taken out again. Returns int64[n + 1].

    >>> from bpe_core.adapting import extend
    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.tokenizer import gpt2
    >>> rows_of_cuts(extend(gpt2(), Corpus.from_text("hugging hugging"), n_tokens=2))
    array([50257, 50258, 50259])
    """
    # Cutting the tokenizer instead would build it: 0.15 s for GPT-2's vocabulary.
    base = run.truncated(0) if run.given_base is None else run.given_base
    return np.maximum.accumulate([embedding_rows(base), *(id + 1 for id in run.new_ids)])
