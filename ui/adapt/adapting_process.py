"""Shrink or replace in its own process, so that pages do not share its interpreter.

It imports nothing of the app that takes long to start.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting import (
    DEFAULT_COVERAGE,
    RemovalOrder,
    Removals,
    count_after_new_tokens,
    count_with_missing,
    extend_to_size,
    gain_by_kind,
    removals_to_replace,
    remove_leaves,
)
from bpe_core.comparison import IntervalWords, describe_interval
from bpe_core.corpus import Corpus, WordCounts, load_sample
from bpe_core.formats import term_to_dict
from bpe_core.processes import Report
from bpe_core.runs import Watch, count
from bpe_core.tokenizer import Tokenizer
from ui.adapt.swapped import (
    GENERAL_TEXTS,
    HELD_OUT,
    TRAINING,
    AtSize,
    TextTokens,
    max_removed,
    sizes_up_to,
)
from ui.storage import read_base
from ui.work import Progress


@dataclass(frozen=True, slots=True)
class Removable:
    """Which tokens may be removed, and which goes first."""

    order: RemovalOrder = "fewest-uses"
    scripts: tuple[str, ...] = ()
    """Only tokens of these may go, if there are any here."""
    pinned: tuple[int, ...] = ()
    """The ids of tokens that stay."""
    terms: tuple[str, ...] = ()
    """The terms to make tokens before others are learned, if tokens are replaced; user input."""
    made_again: tuple[str, ...] = ()
    """New tokens to make after the terms, as hexadecimal bytes."""
    left_out: tuple[str, ...] = ()
    """New tokens not to make, as hexadecimal bytes."""
    character_coverage: float = DEFAULT_COVERAGE
    """As for `Extension`, if tokens are replaced."""

    @property
    def is_limited(self) -> bool:
        """Whether more stays than the alphabet and special tokens."""
        return bool(self.scripts or self.pinned)


HELD_OUT_FOLDER: Final = "held_out"
"""The folder of the visitor's own text, if that is held out."""


@dataclass(frozen=True, slots=True)
class TextSplit:
    """How a text is divided, as `Corpus.split` takes it, unless the visitor's own is held out."""

    share: float
    seed: int
    by: str | None


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The fields of `Removals`, without the base."""

    order: NDArray[np.int32]
    uses: NDArray[np.int64]
    tokens_after: NDArray[np.int64]
    held_out_tokens_after: NDArray[np.int64] | None
    how_sure: IntervalWords


@dataclass(frozen=True, slots=True)
class Replaced:
    """The fields of `Swapped` that are not known before."""

    removed: NDArray[np.int32]
    sizes: tuple[AtSize, ...]
    where: str
    judged: TextTokens
    general: dict[str, TextTokens]
    how_sure: IntervalWords


def shrink_here(
    folder: Path, split: TextSplit, removable: Removable, report: Report[Progress]
) -> Shrunk:
    """Shrink the tokenizer in a folder, for the corpus there, as far as possible."""
    base = read_base(folder)
    training, held_out = _texts(folder, split, base)
    removals = remove_leaves(
        base,
        training,
        held_out=held_out,
        pinned=removable.pinned,
        order=removable.order,
        scripts=removable.scripts or None,
        on_progress=lambda done, of: report(Progress(done, of)),
    )
    return Shrunk(
        np.array(removals.order, np.int32),
        removals.uses,
        removals.tokens_after,
        removals.held_out_tokens_after,
        _judge_most_removed(removals, held_out),
    )


def _judge_most_removed(removals: Removals, held_out: Corpus | None) -> IntervalWords:
    """Return how sure it is what the verdict says of the held-out text, if there is any."""
    tokens = removals.held_out_tokens_after
    if held_out is None or tokens is None or not tokens[0]:
        return IntervalWords()
    n = max_removed(tokens)
    smaller = removals.at(removals.base.vocab_size - n).tokenizer
    return describe_interval(held_out, smaller, removals.base)


def replace_here(
    folder: Path, split: TextSplit, removable: Removable, n_tokens: int, report: Report[Progress]
) -> Replaced:
    """Replace tokens of the tokenizer in a folder, for the corpus there, at several sizes."""
    base = read_base(folder)
    training, held_out = _texts(folder, split, base)
    sizes = sizes_up_to(n_tokens)
    terms = [*removable.terms, *map(bytes.fromhex, removable.made_again)]
    of = n_tokens + sum(sizes)
    removals = removals_to_replace(
        base,
        training,
        n_tokens,
        pinned=removable.pinned,
        order=removable.order,
        scripts=removable.scripts or None,
        terms=terms,
        on_removal=lambda done, _: report(Progress(done, of)),
    )
    general = {id: _counted(load_sample(id), base) for id in GENERAL_TEXTS}
    on_general = {id: [count_with_missing(base, text)] for id, text in general.items()}
    if held_out is not None and not count_with_missing(base, held_out):
        held_out = None  # nothing that the pre-tokenizer makes a word
    tokens = [
        int(removals.tokens_after[0]) if held_out is None else count_with_missing(base, held_out)
    ]
    found: list[AtSize] = []
    done = n_tokens
    largest: Tokenizer | None = None
    # The largest first: a corpus with too few pairs is reported immediately.
    for n in reversed(sizes):
        run = extend_to_size(
            removals.at(base.vocab_size - n),
            training,
            lambda progress, done=done: report(Progress(done + progress.merges_done, of)),
            terms=terms,
            left_out=map(bytes.fromhex, removable.left_out),
            character_coverage=removable.character_coverage,
        )
        largest = largest or run.tokenizer
        done += n
        on_training = count_after_new_tokens(run, run.tokens_after, run.pretokens)
        curve = on_training
        if held_out is not None:
            curve = count_after_new_tokens(run, run.tokens_after_on(held_out), held_out)
        merges = [(merge.left, merge.right, merge.id) for merge in run.merges]
        added = () if run.continues is None else run.continues.characters
        tokens.insert(1, int(curve[-1]))
        for id, text in general.items():
            on_general[id].insert(1, count_with_missing(run.tokenizer, text))
        at_size = AtSize(
            n_tokens=n,
            characters=tuple(run.tokenizer.vocab[id].decode() for id in added),
            merges=np.array(merges, np.int32),
            counts=np.array([merge.count or 0 for merge in run.merges], np.int64),
            saved=-np.diff(on_training),
            more=int(curve[0]) - tokens[0],
            kinds=tuple(gain_by_kind(run, curve, n)),
            costs=tuple(map(term_to_dict, run.terms)),
        )
        found.insert(0, at_size)
    judged = training if held_out is None else held_out
    how_sure = IntervalWords()
    if held_out is not None and largest is not None:
        how_sure = describe_interval(held_out, largest, base)
    return Replaced(
        np.array(removals.order, np.int32),
        tuple(found),
        TRAINING if held_out is None else HELD_OUT,
        TextTokens(judged.n_bytes, tuple(tokens)),
        {id: TextTokens(text.n_bytes, tuple(on_general[id])) for id, text in general.items()},
        how_sure,
    )


def _texts(folder: Path, split: TextSplit, base: Tokenizer) -> tuple[WordCounts, Corpus | None]:
    """Return the counted training text, whose text is then released, and the held-out text."""
    corpus = Corpus.open(folder, stays_on_disk=True)
    if (folder / HELD_OUT_FOLDER).is_dir():
        training, held_out = corpus.hold_out(Corpus.open(folder / HELD_OUT_FOLDER))
    else:
        training, held_out = corpus.split(split.share, split.seed, split.by)
    return _counted(training, base), held_out if held_out.n_bytes else None


def _counted(corpus: Corpus, base: Tokenizer) -> WordCounts:
    watch = Watch(0, time.perf_counter(), None, None)
    return count(corpus, base.pretokenizer.name, watch)
