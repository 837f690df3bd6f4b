"""Divide a corpus into units, over which the uncertainty of a figure is estimated, and into blocks.

A unit is what new text comes in: a document, or whatever was held out together. Lines of one
document are alike, so a figure over parts of documents would look more certain than it is. A block
is what one unit has of one file and type.

How new held-out text is, is measured here too: the share of its words that training never saw.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Self

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_core.corpus import (
    MIN_UNITS,
    Corpus,
    HeldOut,
    count_pretokens,
    file_name,
    file_type,
    main_script,
)
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.types import PretokenCounts

MAX_UNITS: Final = 1_024
"""Small units of one kind are joined until there are about this many."""
_MAX_NAMES: Final = 12
"""This many of the largest files, and types, are counted by name; the others are taken together."""

_LETTER: Final = regex.compile(r"\p{L}")
_TIMES_NEWER: Final = 1.25
_POINTS_NEWER: Final = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks of a corpus: which file, type and unit each is of."""

    N_RESAMPLES: ClassVar = 2_000
    SEED: ClassVar = 0
    """Of the resamples that intervals are computed from."""

    n_blocks: int
    n_units: int
    n_documents: int
    """How many documents there are; 0 for weighted words."""
    how: HeldOut | None
    """How the corpus was held out; None if it was not."""
    files: tuple[str, ...]
    """The names of the largest files, and one for the others; empty for weighted words."""
    types: tuple[str, ...]
    file_of_block: NDArray[np.int64]
    """int64[n_blocks], indices in `files`."""
    type_of_block: NDArray[np.int64]
    unit_of_block: NDArray[np.int64]
    """int64[n_blocks], from 0 to n_units - 1."""
    stratum_of_unit: NDArray[np.int64]
    """int64[n_units]: units of one file type and script have the same number, from 0."""
    block_of_text: NDArray[np.int64]
    """int64[n]: the block of each document, or of each weighted word."""

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """Divide a corpus into units and blocks.

        Weighted words are dealt to units in turn, because they have no order.

        >>> corpus = Corpus.from_documents(["a line\\n" * 8, "x = 1"], ["a.txt", "b.py"])
        >>> blocks = Blocks.of(corpus)
        >>> blocks.n_units, blocks.types, blocks.type_of_block.tolist()
        (2, ('.txt', '.py'), [0, 1])
        """
        if corpus.word_counts is not None:
            return cls._dealt(len(corpus.word_counts), corpus.how)
        sizes: list[int] = []
        scripts: list[str] = []
        for text in corpus.documents:  # in one pass, because they may be on disk
            sizes.append(len(text))
            scripts.append(main_script(text))
        files, file_places = _largest([file_name(name) for name in corpus.names], sizes, "files")
        types, type_places = _largest([file_type(name) for name in corpus.names], sizes, "types")
        kinds = list(map(_Kind, file_places, type_places, scripts))
        units, kind_of_unit = _joined(_unit_labels(corpus), kinds, sizes)
        blocks: dict[tuple[int, int, int], int] = {}
        block_of_text = [
            blocks.setdefault((unit, kind.file, kind.type), len(blocks))
            for unit, kind in zip(units, kinds, strict=True)
        ]
        columns = np.array(list(blocks), np.int64).reshape(-1, 3).T
        return cls(
            n_blocks=len(blocks),
            n_units=len(kind_of_unit),
            n_documents=len(sizes),
            how=corpus.how,
            files=files,
            types=types,
            file_of_block=columns[1],
            type_of_block=columns[2],
            unit_of_block=columns[0],
            stratum_of_unit=_strata([(kind.type, kind.script) for kind in kind_of_unit]),
            block_of_text=np.array(block_of_text, np.int64),
        )

    @classmethod
    def _dealt(cls, n_words: int, how: HeldOut | None) -> Self:
        n_units = min(n_words, MAX_UNITS)
        zeros = np.zeros(n_units, np.int64)
        return cls(
            n_blocks=n_units,
            n_units=n_units,
            n_documents=0,
            how=how,
            files=(),
            types=(),
            file_of_block=zeros,
            type_of_block=zeros,
            unit_of_block=np.arange(n_units),
            stratum_of_unit=zeros,
            block_of_text=np.arange(n_words) % n_units,
        )

    @property
    def method(self) -> str:
        """How the intervals are computed or why there are none, and what flatters."""
        flatters = "" if self.how is None else self.how.flattery
        return f"{self.interval_method} {flatters}".rstrip()

    @property
    def interval_method(self) -> str:
        """How the intervals are computed, or why there are none."""
        noun = self.noun
        if not self.n_documents:
            return f"95% intervals over {self.n_units:,} {noun}, {self.N_RESAMPLES:,} resamples."
        whole = "" if self.how is not None and self.how.share_within else "whole "
        if self.n_units >= MIN_UNITS:
            method = f"95% intervals over {whole}{noun}, {self.N_RESAMPLES:,} resamples."
            return method if self.how is None else f"{method} {self.how.answers_for}".rstrip()
        there_are = f"there {'is' if self.n_units == 1 else 'are'} {self.n_units}"
        remedy = " Hold out more, or documents." if noun == "folders" else ""
        return f"No interval: it takes {MIN_UNITS} {noun}, and {there_are}.{remedy}"

    @property
    def noun(self) -> str:
        """What intervals are over, in the plural."""
        if not self.n_documents:
            return "groups of words"
        return "documents" if self.how is None else self.how.noun(2)


class _Kind(NamedTuple):
    """What the documents of a block have in common, as indices; and their script."""

    file: int
    type: int
    script: str


def _unit_labels(corpus: Corpus) -> Sequence[object]:
    """Return what the documents of one unit have in common: their unit, or else their source."""
    if corpus.units:
        return corpus.units
    return corpus.names if corpus.places else range(len(corpus.documents))


def _joined(
    labels: Sequence[object], kinds: Sequence[_Kind], lengths: Sequence[int]
) -> tuple[list[int], list[_Kind]]:
    """Return the unit of each document, and the kind of each unit: that of its first document.

    Of many units, small ones of one kind are joined with their neighbours.
    """
    sizes: defaultdict[object, int] = defaultdict(int)
    for label, length in zip(labels, lengths, strict=True):
        sizes[label] += max(length, 1)
    enough = sum(sizes.values()) / MAX_UNITS if len(sizes) > MAX_UNITS else 0
    unit_of_label: dict[object, int] = {}
    kind_of_unit: list[_Kind] = []
    filling: dict[_Kind, tuple[int, int]] = {}
    units: list[int] = []
    for label, kind in zip(labels, kinds, strict=True):
        if label not in unit_of_label:
            # A unit that is not full yet takes the next one of its kind.
            unit, size = filling.pop(kind, (len(kind_of_unit), 0))
            if unit == len(kind_of_unit):
                kind_of_unit.append(kind)
            unit_of_label[label] = unit
            if size + sizes[label] < enough:
                filling[kind] = unit, size + sizes[label]
        units.append(unit_of_label[label])
    return units, kind_of_unit


def _strata(kinds: Sequence[tuple[int, str]]) -> NDArray[np.int64]:
    """Return the stratum of each unit; kinds with too few units are one stratum together."""
    n_units = Counter(kinds)
    numbers = {kind: n + 1 for n, kind in enumerate(n_units) if n_units[kind] >= MIN_UNITS}
    strata = np.array([numbers.get(kind, 0) for kind in kinds], np.int64)
    if numbers and np.count_nonzero(strata == 0) == 1:
        # A stratum of one unit would add no uncertainty.
        strata[strata == 0] = 1
    return np.unique(strata, return_inverse=True)[1]


def _largest(
    names: Sequence[str], lengths: Sequence[int], what: str
) -> tuple[tuple[str, ...], list[int]]:
    """Return the names with the most text, then one for all others, and the place of each name."""
    sizes: Counter[str] = Counter()
    for name, length in zip(names, lengths, strict=True):
        sizes[name] += length
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    # One other is named rather than called "1 other".
    named = ordered if len(ordered) <= _MAX_NAMES + 1 else ordered[:_MAX_NAMES]
    place = {name: min(i, len(named)) for i, name in enumerate(ordered)}
    n_others = len(ordered) - len(named)
    others = (f"{n_others:,} other {what}",) if n_others else ()
    return (*named, *others), [place[name] for name in names]


class Newness(NamedTuple):
    """The shares of held-out words that training never saw, from 0 to 1; nan without words."""

    unseen: float
    """Of the text that was held out."""
    unseen_by_folder: float | None
    """Of whole folders, if they are held out instead; None if there are no folders to hold out."""

    @classmethod
    def measure(
        cls,
        training: PretokenCounts,
        held_out: Corpus,
        pretokenizer: str,
        by_folder: tuple[Corpus, Corpus] | None = None,
    ) -> Self:
        """Return how new held-out text is, and what whole folders would be.

        `training` are the words of the training text. `by_folder` is the corpus without whole
        folders, and these folders. Words are pre-tokens with a letter, without the white space
        around them.

        >>> documents = [f"alpha beta name{n % 5} word{n}\\n" for n in range(500)]
        >>> corpus = Corpus.from_documents(documents, [f"{n % 5}/{n}.txt" for n in range(500)])
        >>> text, held_out = corpus.split(0.1)
        >>> words = count_pretokens(text, get_pretokenizer("whitespace"))
        >>> folders = corpus.split(0.1, 0, "folder")
        >>> found = Newness.measure(words, held_out, "whitespace", folders)
        >>> found.unseen, found.unseen_by_folder, found.depends_on_folder
        (0.25, 0.5, True)
        """
        unseen = _unseen_share(training, held_out, pretokenizer)
        if by_folder is None:
            return cls(unseen, None)
        there, held_out_there = by_folder
        words = count_pretokens(there, get_pretokenizer(pretokenizer))
        unseen_there = _unseen_share(words, held_out_there, pretokenizer)
        return cls(unseen, None if math.isnan(unseen_there) else unseen_there)

    @property
    def depends_on_folder(self) -> bool:
        """Whether text of new folders is much newer than new documents of the same folders."""
        return self.unseen_by_folder is not None and (
            self.unseen_by_folder > self.unseen * _TIMES_NEWER
            and self.unseen_by_folder > self.unseen + _POINTS_NEWER
        )


def _unseen_share(training: PretokenCounts, held_out: Corpus, pretokenizer: str) -> float:
    """Return the share of held-out words, by occurrences, that are not in the training text."""
    seen = {word.strip() for word in training.words}
    found = count_pretokens(held_out, get_pretokenizer(pretokenizer))
    n_words = n_unseen = 0
    for word, count in zip(found.words, found.counts.tolist(), strict=True):
        if _LETTER.search(word.decode(errors="replace")):
            n_words += count
            if word.strip() not in seen:
                n_unseen += count
    return n_unseen / n_words if n_words else math.nan
