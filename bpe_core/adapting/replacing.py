"""Replace the tokens that a corpus uses least with tokens that it would use, at the same size."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.adapting.adapted import Adapted, trace_ids
from bpe_core.adapting.extending import DEFAULT_COVERAGE, checked_terms, extend, extendable
from bpe_core.adapting.shrinking import OnRemoval, RemovalOrder, Removals, remove_leaves
from bpe_core.checks import check_whole, counted
from bpe_core.corpus import Corpus, WordCounts, corpus_or_counts
from bpe_core.errors import ConfigError
from bpe_core.tokenizer import Encoder, Tokenizer
from bpe_core.trainers import find_term_forms
from bpe_core.types import PretokenCounts, check_coverage

if TYPE_CHECKING:
    from bpe_core.trainers import TrainingRun
    from bpe_core.types import TieBreak, TrainingProgress


def replace(
    tokenizer: Encoder | str | os.PathLike[str],
    corpus: Corpus | WordCounts | Iterable[str],
    n_tokens: int,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    *,
    pinned: Collection[int] = (),
    scripts: Collection[str] | None = None,
    order: RemovalOrder = "fewest-uses",
    terms: Iterable[str | bytes] = (),
    left_out: Iterable[bytes] = (),
    tie_break: TieBreak = "smallest-pair",
    character_coverage: float = DEFAULT_COVERAGE,
    on_removal: OnRemoval | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Adapted:
    """Shrink a vocabulary by `n_tokens`, then extend it by as many; its size is unchanged.

    Kept tokens are renumbered in the old order, and new tokens follow them. A removed token that
    is learned again gets its old id in `old_ids`, so its embedding row is kept. `pinned`,
    `scripts` and `order` are as for `shrink`, `terms`, `left_out`, `tie_break` and
    `character_coverage` as for `extend`.
    A term that is a token of the base stays; what the others cost is in `terms` of the result, and
    their tokens count among `n_tokens`.

    Raises what `shrink` and `extend` raise, and `ConfigError` if the corpus has too few pairs for
    `n_tokens` new tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> swapped = replace(gpt2(), Corpus.from_text("A tokenizer, two tokenizers"), n_tokens=2)
    >>> swapped.tokenizer.vocab_size, swapped.tokenizer.decode([50256]), swapped.removed
    (50257, ' tokenizers', (50255, 50254))
    >>> {id: [gpt2().decode([part]) for part in parts] for id, parts in swapped.parts.items()}
    {50255: [' token', 'izer'], 50256: [' token', 'izers']}
    """
    corpus = corpus_or_counts(corpus)
    # Before the removals, which take long.
    check_coverage("character_coverage", character_coverage, may_be_zero=True)
    tried = checked_terms(terms)
    removals = removals_to_replace(
        tokenizer,
        corpus,
        n_tokens,
        pinned=pinned,
        scripts=scripts,
        order=order,
        terms=tried,
        on_removal=on_removal,
        should_stop=should_stop,
    )
    smaller = removals.at(removals.base.vocab_size - n_tokens)
    run = extend_to_size(
        smaller,
        corpus,
        on_progress,
        should_stop,
        terms=tried,
        left_out=left_out,
        tie_break=tie_break,
        character_coverage=character_coverage,
    )
    return trace_ids(smaller.base, run.tokenizer, smaller.old_ids, smaller.removed, run.terms)


def removals_to_replace(
    tokenizer: Encoder | str | os.PathLike[str],
    corpus: Corpus | WordCounts | Iterable[str],
    n_tokens: int,
    *,
    pinned: Collection[int] = (),
    scripts: Collection[str] | None = None,
    order: RemovalOrder = "fewest-uses",
    terms: Iterable[str | bytes] = (),
    on_removal: OnRemoval | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Removals:
    """Return the removals of the first step of `replace`, which include those for fewer tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> removals_to_replace(gpt2(), Corpus.from_text("A tokenizer"), 2).order
    (50255, 50254)
    """
    base = extendable(tokenizer)
    check_whole("n_tokens", n_tokens, 1, base.vocab_size)
    return remove_leaves(
        base,
        corpus,
        base.vocab_size - int(n_tokens),
        pinned=[*pinned, *find_whole_terms(checked_terms(terms), base)],
        order=order,
        scripts=scripts,
        on_progress=on_removal,
        should_stop=should_stop,
    )


def extend_to_size(
    smaller: Adapted,
    corpus: Corpus | WordCounts | Iterable[str],
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    *,
    terms: Iterable[str | bytes] = (),
    left_out: Iterable[bytes] = (),
    tie_break: TieBreak = "smallest-pair",
    character_coverage: float = DEFAULT_COVERAGE,
) -> TrainingRun:
    """Return the second step of `replace`: a shrunk tokenizer extended to its base's size.

    >>> from bpe_core.tokenizer import gpt2
    >>> corpus = Corpus.from_text("A tokenizer, two tokenizers")
    >>> run = extend_to_size(removals_to_replace(gpt2(), corpus, 2).at(50_256), corpus)
    >>> [run.tokenizer.decode([id]) for id in run.new_tokens]
    [' tokenizer']
    """
    n_tokens = len(smaller.removed)
    run = extend(
        smaller.tokenizer,
        corpus,
        n_tokens,
        on_progress,
        should_stop,
        tie_break=tie_break,
        terms=terms,
        left_out=left_out,
        character_coverage=character_coverage,
    )
    if run.stop_reason == "cancelled":
        raise CancelledError
    if len(run.new_tokens) < n_tokens:
        raise ConfigError(
            f"This corpus has pairs for only {counted(len(run.new_tokens), 'new token')}, not "
            f"{n_tokens:,}. Replace fewer, or use more text."
        )
    return run


def find_whole_terms(terms: Sequence[str | bytes], base: Tokenizer) -> list[int]:
    """Return the base's ids of terms that are one of its tokens, after a space or without one.

    >>> from bpe_core.tokenizer import gpt2
    >>> [gpt2().decode([id]) for id in find_whole_terms(["Fluss", "hug", b"ug"], gpt2())]
    ['ug', ' hug']
    """
    nothing = PretokenCounts((), np.zeros(0, np.int64))
    forms = [form.ids for of_term in find_term_forms(terms, base, nothing) for form in of_term]
    return sorted({ids[0] for ids in forms if len(ids) == 1 and ids[0] >= 0})
