"""The texts that an adapted tokenizer is judged by, and the result of replacing tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting import Adapted, KindGain, add_characters, trace_ids
from bpe_core.comparison import IntervalWords
from bpe_core.corpus import Corpus, samples
from bpe_core.formats import parse_term
from bpe_core.runs import TermCost
from bpe_core.tokenizer import Tokenizer, extended
from bpe_core.vocabulary import keep_only

# Each is a shrink and an extension of its own: some seconds with a vocabulary of 50,000 tokens.
_MAX_SIZES: Final = 5


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
        removed = self.removed[: size.n_tokens]
        smaller, old_ids = keep_only(self.base, self.base.vocab.keys() - set(removed))
        smaller = add_characters(smaller, map(str.encode, size.characters))
        merges = ((left, right, id) for left, right, id in size.merges.tolist())
        tokenizer = extended(smaller, merges, size.counts.tolist())
        return trace_ids(self.base, tokenizer, old_ids, removed, size.terms)


GENERAL_TEXTS: Final = ("python-help", "multilingual", "python-library")
"""The ids of the samples."""
HELD_OUT: Final = "held-out text"
TRAINING: Final = "training text"
_MAX_TIMES: Final = 1.01

_Text = TypeVar("_Text", Corpus, NDArray[np.int64])


def general_titles() -> dict[str, str]:
    """Return the ids of the samples that serve as general texts, with their titles."""
    titles = {sample.id: sample.title for sample in samples()}
    return {id: titles[id] for id in GENERAL_TEXTS}


def judged(held_out: _Text | None, training: _Text) -> tuple[str, _Text]:
    """Return the name of the text to judge by, and the text or its numbers of tokens.

    It is the training text if nothing was held out: None, an empty corpus, or one of no tokens.

    >>> judged(np.array([9, 7]), np.array([99, 70]))
    ('held-out text', array([9, 7]))
    >>> judged(None, np.array([99, 70]))
    ('training text', array([99, 70]))
    """
    if held_out is None:
        return TRAINING, training
    size = held_out.n_bytes if isinstance(held_out, Corpus) else held_out[0]
    return (HELD_OUT, held_out) if size > 0 else (TRAINING, training)


def max_removed(tokens: NDArray[np.int64]) -> int:
    """Return how many tokens can go, one after another, before a text takes 1% more tokens.

    `tokens` is int64[n + 1], the text's tokens after each removal. It may fall too: without a
    token, merges may find a shorter way.

    >>> max_removed(np.array([100, 99, 103, 100])), max_removed(np.array([9]))
    (1, 0)
    """
    above = tokens > _MAX_TIMES * float(tokens[0])
    return int(np.argmax(above)) - 1 if above.any() else len(tokens) - 1
