"""Shrink or replace in its own process, so that pages do not share its interpreter.

Also here: the texts that an adapted tokenizer is judged by, and the result of replacing tokens.
This module imports nothing of the app that takes long to start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting import (
    DEFAULT_COVERAGE,
    Adapted,
    KindGain,
    RemovalOrder,
    Removals,
)
from bpe_core.comparison import IntervalWords
from bpe_core.corpus import Corpus, WordCounts, load_sample, samples
from bpe_core.formats import parse_term, term_to_dict
from bpe_core.processes import Report
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import TermCost, count, count_with_missing
from ui.storage import read_base, read_held_out
from ui.work import Progress

# Each is a shrink and an extension of its own: some seconds with a vocabulary of 50,000 tokens.
_MAX_SIZES: Final = 5

GENERAL_TEXTS: Final = ("python-help", "multilingual", "python-library")
"""The ids of the samples."""
HELD_OUT: Final = "held-out text"
TRAINING: Final = "training text"
_MAX_TIMES: Final = 1.01


def sizes_up_to(n_tokens: int) -> list[int]:
    """Return the numbers of tokens that are replaced to draw a curve, ascending.

    >>> sizes_up_to(1_000)[:3], sizes_up_to(3)
    ([200, 400, 600], [1, 2, 3])
    """
    sizes = {n_tokens * share // _MAX_SIZES for share in range(1, _MAX_SIZES + 1)}
    return sorted(sizes - {0})


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The tokens of a text with the base, and after replacing at each size."""

    n_bytes: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AtSize:
    """What replacing a number of tokens gives."""

    n_tokens: int
    characters: tuple[str, ...]
    """The first of the new tokens: characters that the base spells in bytes."""
    merges: NDArray[np.int32] = field(repr=False)
    """int32[n_merges, 3]: left, right and id of each, for the base without the removed tokens and
    with the new characters."""
    counts: NDArray[np.int64] = field(repr=False)
    """int64[n_merges]: how often each pair occurred."""
    saved: NDArray[np.int64] = field(repr=False)
    """int64[n_tokens]: how many tokens shorter each new token made the training text."""
    more: int
    """How many more tokens the judged text takes without the removed tokens and without new ones.

    May be negative: without a token, merges may find a shorter way.
    """
    kinds: tuple[KindGain, ...]
    """What the new tokens save on the judged text."""
    costs: tuple[dict[str, Any], ...]
    """What each term cost, as JSON values."""

    @property
    def terms(self) -> tuple[TermCost, ...]:
        """What each term cost."""
        return tuple(map(parse_term, self.costs))


@dataclass(frozen=True, slots=True)
class Swapped:
    """A tokenizer with tokens replaced: a few, more, up to as many as were asked for."""

    base: Tokenizer
    removed: tuple[int, ...]
    """The base's ids of the tokens removed at the largest size; at others, the first of these."""
    sizes: tuple[AtSize, ...]
    where: str
    """Which text they are judged by."""
    judged: TextTokens
    general_id: str
    """Which sample is shown as the general text at first."""
    general: Mapping[str, TextTokens]
    """Each sample that may serve as the general text, by id."""
    how_sure: IntervalWords
    """How sure the gain of the largest size on the held-out text is, if there is any."""

    @property
    def n_tokens(self) -> int:
        """The number of tokens that was asked for."""
        return self.sizes[-1].n_tokens

    @property
    def adapted(self) -> Adapted:
        """The tokenizer with the requested number of tokens replaced."""
        return self.at(len(self.sizes) - 1)

    def at(self, place: int) -> Adapted:
        """Return the tokenizer at one of the sizes; it is rebuilt on each call."""
        size = self.sizes[place]
        return Adapted.rebuilt(
            self.base,
            self.removed[: size.n_tokens],
            map(str.encode, size.characters),
            ((left, right, id) for left, right, id in size.merges.tolist()),
            size.counts.tolist(),
            size.terms,
        )


def general_titles() -> dict[str, str]:
    """Return the ids of the samples that serve as general texts, with their titles."""
    titles = {sample.id: sample.title for sample in samples()}
    return {id: titles[id] for id in GENERAL_TEXTS}


def judged(
    held_out: NDArray[np.int64] | None, training: NDArray[np.int64]
) -> tuple[str, NDArray[np.int64]]:
    """Return the name of the text to judge by, and its numbers of tokens.

    It is the training text if nothing was held out, or only a text of no tokens.

    >>> judged(np.array([9, 7]), np.array([99, 70]))
    ('held-out text', array([9, 7]))
    >>> judged(None, np.array([99, 70]))
    ('training text', array([99, 70]))
    """
    if held_out is None or held_out[0] == 0:
        return TRAINING, training
    return HELD_OUT, held_out


def max_removed(tokens: NDArray[np.int64]) -> int:
    """Return how many tokens can go, one after another, before a text takes 1% more tokens.

    `tokens` is int64[n + 1], the text's tokens after each removal. It may fall too: without a
    token, merges may find a shorter way.

    >>> max_removed(np.array([100, 99, 103, 100])), max_removed(np.array([9]))
    (1, 0)
    """
    above = tokens > _MAX_TIMES * float(tokens[0])
    return int(np.argmax(above)) - 1 if above.any() else len(tokens) - 1


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
    removals = Removals.of(
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
    return IntervalWords.measure(held_out, smaller, removals.base)


def replace_here(
    folder: Path, split: TextSplit, removable: Removable, n_tokens: int, report: Report[Progress]
) -> Replaced:
    """Replace tokens of the tokenizer in a folder, for the corpus there, at several sizes."""
    base = read_base(folder)
    training, held_out = _texts(folder, split, base)
    sizes = sizes_up_to(n_tokens)
    terms = [*removable.terms, *map(bytes.fromhex, removable.made_again)]
    of = n_tokens + sum(sizes)
    removals = Removals.to_replace(
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
        run = removals.at(base.vocab_size - n).extended_to_size(
            training,
            lambda progress, done=done: report(Progress(done + progress.merges_done, of)),
            terms=terms,
            left_out=map(bytes.fromhex, removable.left_out),
            character_coverage=removable.character_coverage,
        )
        largest = largest or run.tokenizer
        done += n
        on_training = run.tokens_after_new()
        curve = on_training
        if held_out is not None:
            curve = run.tokens_after_new(held_out)
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
            kinds=tuple(KindGain.of(run, curve, n)),
            costs=tuple(map(term_to_dict, run.terms)),
        )
        found.insert(0, at_size)
    judged = training if held_out is None else held_out
    how_sure = IntervalWords()
    if held_out is not None and largest is not None:
        how_sure = IntervalWords.measure(held_out, largest, base)
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
    if (own := read_held_out(folder)) is not None:
        training, held_out = corpus.hold_out(own)
    else:
        training, held_out = corpus.split(split.share, split.seed, split.by)
    return _counted(training, base), held_out if held_out.n_bytes else None


def _counted(corpus: Corpus, base: Tokenizer) -> WordCounts:
    return count(corpus, base.pretokenizer.name)
