"""Measure how many fewer tokens one tokenizer needs than another: with an interval, and by part.

A corpus is divided into units, over which the uncertainty is estimated, and into blocks. A unit is
what new text comes in: a document, or whatever was held out together. Lines of one document are
alike, so a figure over parts of documents would look more certain than it is. A block is what one
unit has of one file and type. How new held-out text is, is measured here too.

The parts are the kinds of tokens, the scripts, the file types and the files of the text. Each token
counts once in each of these divisions, so the parts of each add up to the whole. A kind or script
counts the tokens that each tokenizer uses there, which may be none: a tokenizer whose tokens join
words with the space before them has few tokens of white space alone.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, NamedTuple, Self

import numpy as np
import regex
from numpy.typing import NDArray

from bpe_core.comparison.text_map import TOKEN_KINDS
from bpe_core.corpus import (
    Corpus,
    HeldOut,
    count_pretokens,
    file_name,
    file_type,
    main_script,
)
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.types import PretokenCounts
from bpe_core.unicode import NO_LETTER, SCRIPT_GROUPS

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
        if self.n_units >= HeldOut.MIN_UNITS:
            method = f"95% intervals over {whole}{noun}, {self.N_RESAMPLES:,} resamples."
            return method if self.how is None else f"{method} {self.how.answers_for}".rstrip()
        there_are = f"there {'is' if self.n_units == 1 else 'are'} {self.n_units}"
        remedy = " Hold out more, or documents." if noun == "folders" else ""
        return f"No interval: it takes {HeldOut.MIN_UNITS} {noun}, and {there_are}.{remedy}"

    @property
    def noun(self) -> str:
        """What intervals are over, in the plural."""
        if not self.n_documents:
            return "groups of words"
        return "documents" if self.how is None else self.how.noun(2)


class BlockCounts(NamedTuple):
    """The tokens of each block of a corpus by kind and by script; both add up to all tokens."""

    kinds: NDArray[np.int64]
    """int64[n_blocks, len(TOKEN_KINDS)]."""
    scripts: NDArray[np.int64]
    """int64[n_blocks, len(SCRIPT_GROUPS)]."""


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
    numbers = {kind: n + 1 for n, kind in enumerate(n_units) if n_units[kind] >= HeldOut.MIN_UNITS}
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


MIN_SCRIPT_SHARE: Final = 0.01
"""Scripts with a smaller share of all tokens are taken together."""
CARRIES: Final = 0.75
"""Kinds of tokens carry a difference if they make up this share of what is saved, or of what is
lost, and words save or lose less than half as much of their own."""
MIN_NAMED: Final = 0.1
MIN_SHARE: Final = 0.05
"""A part with a smaller share of the tokens does not count as disagreeing."""

Way = Literal["fewer", "more", "unclear"]
Division = Literal["kind", "script", "type", "file"]
LEVEL: Final = 0.95

_Columns = tuple[Sequence[str], list[NDArray[np.int64]]]
"""Names, and for both tokenizers the counts of each name, int64[n_blocks, n_names]."""
_NEARLY_ALL: Final = 0.995


class TextPart(NamedTuple):
    """The token counts of two tokenizers on a text or a part of it."""

    name: str
    """May come from a visitor, as the name of a file."""
    own: int
    theirs: int
    n_units: int
    """How many units have any of these tokens."""
    percent_fewer: float
    """100 × (1 - own / theirs), negative if `own` is more; nan if `theirs` is 0."""
    low: float
    """The ends of the 95 % interval; nan if there are too few units for one."""
    high: float

    @classmethod
    def of(
        cls,
        own: NDArray[np.float64] | NDArray[np.int64],
        theirs: NDArray[np.float64] | NDArray[np.int64],
        strata: NDArray[np.int64],
        widened: float = 1.0,
    ) -> Self:
        """Return how much less one costs than another, given the costs of each unit of a text.

        >>> one = TextPart.of(np.array([90] * 30), np.array([100] * 30), np.zeros(30, np.int64))
        >>> round(one.percent_fewer), one.way
        (10, 'fewer')
        """
        ends = intervals(own[:, None], theirs[:, None], strata)[0]
        percent = percent_fewer(own.sum(keepdims=True), theirs.sum(keepdims=True))[0]
        n_units = int(((own > 0) | (theirs > 0)).sum())
        low, high = (percent + widened * (ends - percent)).tolist()
        return cls("all", int(own.sum()), int(theirs.sum()), n_units, float(percent), low, high)

    @property
    def ratio_interval(self) -> tuple[float, float]:
        """The 95 % interval of the ratio of the two sums.

        >>> part = TextPart.of(np.array([2, 4] * 50), np.ones(100), np.zeros(100, np.int64))
        >>> low, high = part.ratio_interval
        >>> low < 3 < high
        True
        """
        return 1 - self.high / 100, 1 - self.low / 100

    @staticmethod
    def signed(percent_fewer: float, digits: int = 1) -> str:
        """Return a difference with its direction.

        >>> TextPart.signed(4.94), TextPart.signed(-4.94)
        ('4.9% fewer', '4.9% more')
        """
        return f"{abs(percent_fewer):,.{digits}f}% {'more' if percent_fewer < 0 else 'fewer'}"

    @property
    def has_interval(self) -> bool:
        """Whether there are enough units to say how far the figure may be off."""
        return not math.isnan(self.low)

    @property
    def way(self) -> Way:
        """The direction of the difference; "unclear" if the interval includes 0.

        Without an interval the figure is of this text alone, and its sign decides.
        """
        low, high = (self.low, self.high) if self.has_interval else (self.percent_fewer,) * 2
        if low > 0:
            return "fewer"
        return "more" if high < 0 else "unclear"

    @property
    def interval_words(self) -> str:
        """The interval of the figure, such as "95% interval 43.9–45.5%"; empty without one.

        >>> TextPart("all", 90, 100, 50, 10.0, 8.04, 12.0).interval_words
        '95% interval 8.0–12.0%'
        >>> TextPart("all", 99, 100, 50, 1.0, -2.0, 4.0).interval_words
        '95% interval from 2.0% more to 4.0% fewer'
        """
        if not self.has_interval:
            return ""
        digits = 2 if max(abs(self.low), abs(self.high)) < 0.1 else 1
        if self.way == "unclear":
            low, high = (self.signed(end, digits) for end in (self.low, self.high))
            return f"95% interval from {low} to {high}"
        low, high = sorted((abs(self.low), abs(self.high)))
        return f"95% interval {low:,.{digits}f}–{high:,.{digits}f}%"


class TokenSaving(NamedTuple):
    """The tokens that one tokenizer saves against another on a text."""

    MIN_TOKENS = 300
    """With fewer tokens of either tokenizer, the text is too short to judge by."""
    POINTS_APART = 10.0
    """A part disagrees if its figure differs from the whole's by this many percentage points, or
    by half of the whole's figure if that is less, but by at least `MIN_POINTS`."""
    MIN_POINTS = 3.0
    OTHER_SCRIPTS = "other scripts"

    whole: TextPart
    divisions: tuple[tuple[Division, tuple[TextPart, ...]], ...]
    """The parts by kind, script, type and file, without divisions that have only one part."""

    @property
    def has_enough_text(self) -> bool:
        """True if there are enough tokens to say who needs fewer of them on this text."""
        return min(self.whole.own, self.whole.theirs) >= self.MIN_TOKENS

    @property
    def disagreeing(self) -> tuple[tuple[Division, TextPart], ...]:
        """The parts whose figure differs materially from the whole's, the weightiest first.

        Such a part has `MIN_SHARE` of the other tokenizer's tokens, and an interval without
        the whole's figure. It favours the other tokenizer, or is far from it: see `POINTS_APART`.
        """
        found: list[tuple[Division, TextPart]] = [
            (division, part)
            for division, parts in self.divisions
            for part in parts
            if _disagrees(part, self.whole)
        ]
        return tuple(sorted(found, key=lambda each: -_weight(each[1], self.whole)))

    @property
    def carried_by(self) -> Carried | None:
        """What carries the difference, if that is not words; see `CARRIES`."""
        whole, kinds = self.whole, dict(self.divisions).get("kind", ())
        words = next((part for part in kinds if part.name == "words"), None)
        sign = 1 if whole.way == "fewer" else -1
        saved = {part: sign * (part.theirs - part.own) for part in kinds}
        ordered = sorted(kinds, key=lambda part: -saved[part])
        total = sum(n for n in saved.values() if n > 0)
        if whole.way == "unclear" or not total or words is None or not words.theirs:
            return None
        main: list[TextPart] = []
        while sum(saved[part] for part in main) < CARRIES * total:
            main.append(ordered[len(main)])
        if words in main or sign * words.percent_fewer >= sign * whole.percent_fewer / 2:
            return None
        named = [part for part in ordered if part != words and saved[part] >= MIN_NAMED * total]
        share = sum(saved[part] for part in named) / abs(whole.theirs - whole.own)
        return Carried(tuple(part.name for part in named), share, words)

    @property
    def carried_words(self) -> str:
        """A sentence on what carries a difference if that is not words; may be empty.

        >>> from math import nan
        >>> parts = [("words", 60, 50), ("punctuation", 9, 9), ("white space", 10, 40)]
        >>> kinds = [TextPart(*part, 30, 100 - 100 * part[1] / part[2], nan, nan) for part in parts]
        >>> whole = TextPart("all", 79, 99, 30, 20.2, nan, nan)
        >>> TokenSaving(whole, (("kind", tuple(kinds)),)).carried_words
        'All of the difference is on white space; on words alone it needs 20.0% more.'
        """
        carried = self.carried_by
        if carried is None:
            return ""
        most = "All" if carried.share >= _NEARLY_ALL else "Most"
        words = f"it needs {TextPart.signed(carried.words.percent_fewer)}"
        if carried.words.own == carried.words.theirs:
            words = "it needs as many"
        elif carried.words.way == "unclear":
            words = "there is no clear difference"
        kinds = ", ".join(carried.kinds[:-1])
        kinds = f"{kinds} and {carried.kinds[-1]}" if kinds else carried.kinds[-1]
        return f"{most} of the difference is on {kinds}; on words alone {words}."


class Carried(NamedTuple):
    """The kinds of tokens that a difference is on, if that is not words."""

    kinds: tuple[str, ...]
    """The largest first."""
    share: float
    """What they save, as a share of the difference; more than 1 if other kinds lose."""
    words: TextPart


def compute_gain(blocks: Blocks, own: BlockCounts, theirs: BlockCounts) -> TokenSaving:
    """Return the tokens that one tokenizer saves against another in the blocks of a corpus."""
    pair = [own, theirs]
    totals = [counts.kinds.sum(axis=1, keepdims=True) for counts in pair]
    of_whole: _Columns = ["all"], totals
    divisions: list[tuple[Division, _Columns]] = [
        ("kind", (TOKEN_KINDS, [counts.kinds for counts in pair])),
        ("script", _scripts(own.scripts, theirs.scripts)),
        ("type", (blocks.types, [_spread(n, blocks.type_of_block, blocks.types) for n in totals])),
        ("file", (blocks.files, [_spread(n, blocks.file_of_block, blocks.files) for n in totals])),
    ]
    # All intervals come from the same draws.
    whole, *parts = _parts([of_whole, *(columns for _, columns in divisions)], blocks)
    found: list[tuple[Division, tuple[TextPart, ...]]] = []
    for division, (names, _) in divisions:
        found.append((division, tuple(part for part in parts[: len(names)] if part.n_units)))
        del parts[: len(names)]
    return TokenSaving(whole, tuple((division, of) for division, of in found if len(of) > 1))


def _parts(columns: Sequence[_Columns], blocks: Blocks) -> list[TextPart]:
    """Return the figures of each named part of a text."""
    own, theirs = (
        _by_unit(np.hstack([counts[side] for _, counts in columns]), blocks) for side in (0, 1)
    )
    n_units = ((own > 0) | (theirs > 0)).sum(axis=0).tolist()
    sums = own.sum(axis=0), theirs.sum(axis=0)
    figures = percent_fewer(*sums).tolist()
    ends = intervals(own, theirs, blocks.stratum_of_unit).tolist()
    names = [name for names, _ in columns for name in names]
    rows = zip(names, sums[0].tolist(), sums[1].tolist(), n_units, figures, ends, strict=True)
    return [TextPart(*row, low=low, high=high) for *row, (low, high) in rows]


def _by_unit(counts: NDArray[np.int64], blocks: Blocks) -> NDArray[np.int64]:
    """Add up the counts of each unit's blocks."""
    found = np.zeros((blocks.n_units, counts.shape[1]), np.int64)
    np.add.at(found, blocks.unit_of_block, counts)
    return found


def _spread(
    totals: NDArray[np.int64], name_of_block: NDArray[np.int64], names: Sequence[str]
) -> NDArray[np.int64]:
    """Return the totals of blocks, int64[n_blocks, 1], each in the column of its name."""
    return totals * (name_of_block[:, None] == np.arange(len(names)))


def _scripts(own: NDArray[np.int64], theirs: NDArray[np.int64]) -> _Columns:
    """Return a column for each frequent script, and one for the others together.

    There are none for a text in one script: they would only repeat those by kind.
    """
    sums = (own + theirs).sum(axis=0)
    is_frequent = sums >= MIN_SCRIPT_SHARE * sums.sum()
    is_frequent[NO_LETTER] = sums[NO_LETTER] > 0
    frequent = np.flatnonzero(is_frequent)
    if np.count_nonzero(frequent != NO_LETTER) < 2:
        return [], [counts[:, :0] for counts in (own, theirs)]
    names = [*(SCRIPT_GROUPS[code] for code in frequent.tolist()), TokenSaving.OTHER_SCRIPTS]
    return names, [
        np.column_stack([counts[:, frequent], counts[:, ~is_frequent].sum(axis=1)])
        for counts in (own, theirs)
    ]


def _disagrees(part: TextPart, whole: TextPart) -> bool:
    if part.theirs < MIN_SHARE * whole.theirs or not (part.has_interval and whole.has_interval):
        return False
    if part.low <= whole.percent_fewer <= part.high:
        return False
    if whole.way != "unclear" and part.way not in (whole.way, "unclear"):
        return True
    nearest = max(TokenSaving.MIN_POINTS, abs(whole.percent_fewer) / 2)
    apart = min(TokenSaving.POINTS_APART, nearest)
    return abs(part.percent_fewer - whole.percent_fewer) >= apart


def _weight(part: TextPart, whole: TextPart) -> float:
    """How far the part moves the whole: its share of the tokens times its distance in points."""
    return part.theirs * abs(part.percent_fewer - whole.percent_fewer)


def percent_fewer(
    own: NDArray[np.int64] | NDArray[np.float64], theirs: NDArray[np.int64] | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return 100 × (1 - own / theirs) for each pair of counts; nan where the second is 0.

    >>> percent_fewer(np.array([50, 150, 1]), np.array([100, 100, 0])).tolist()
    [50.0, -50.0, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 100 * (1 - own / theirs)
    return np.where(theirs > 0, found, np.nan)


def intervals(
    own: NDArray[np.int64] | NDArray[np.float64],
    theirs: NDArray[np.int64] | NDArray[np.float64],
    strata: NDArray[np.int64] | None = None,
    *,
    n_resamples: int = Blocks.N_RESAMPLES,
) -> NDArray[np.float64]:
    """Return the interval of each figure's `percent_fewer`, float64[n_figures, 2].

    `own` and `theirs` are the counts of the same units, int64[n_units, n_figures]; `strata` is the
    stratum of each unit, int64[n_units], or None for one stratum. A figure has nan instead of an
    interval if fewer than `HeldOut.MIN_UNITS` units have any count for it, or if `theirs` is 0 in
    more than a few resamples.

    This is the bootstrap. In each stratum units are drawn with replacement, one fewer than there
    are, and the figure is computed again from the sums of what was drawn. Both tokenizers are
    counted on the same drawn units, so what makes a unit hard for both cancels out. The interval is
    between percentiles of the figures.

    Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13; for strata
    and one unit fewer, Rao and Wu 1988, "Resampling inference with complex survey data".

    >>> own = np.array([[8], [9]] * 50)
    >>> intervals(own, np.full((100, 1), 10)).round(1).tolist()
    [[14.0, 16.0]]
    """
    n_units, n_figures = own.shape
    found = np.full((n_figures, 2), np.nan)
    has_enough = ((own > 0) | (theirs > 0)).sum(axis=0) >= HeldOut.MIN_UNITS
    if not has_enough.any():
        return found
    counts = np.concatenate([own[:, has_enough], theirs[:, has_enough]], axis=1).astype(np.float64)
    of_one = np.zeros(n_units, np.int64)
    sums = _draws(of_one if strata is None else strata, n_resamples) @ counts
    n = counts.shape[1] // 2
    figures = percent_fewer(sums[:, :n], sums[:, n:])
    tail = (1 - LEVEL) / 2
    # A rare count can be 0 in all units of a draw. If it is 0 in more than a few draws, there is
    # no interval, because the rest would not be representative.
    is_defined = np.isnan(figures).mean(axis=0) < tail / 10
    places = np.flatnonzero(has_enough)[is_defined]
    for place, column in zip(places, figures[:, is_defined].T, strict=True):
        found[place] = np.quantile(column[~np.isnan(column)], [tail, 1 - tail])
    return found


def _draws(strata: NDArray[np.int64], n_resamples: int) -> NDArray[np.float64]:
    """Return the weight of each unit in each resample, float64[n_resamples, n_units]."""
    weights = np.empty((n_resamples, len(strata)))
    generator = np.random.default_rng(Blocks.SEED)
    for number in np.unique(strata):
        members = np.flatnonzero(strata == number)
        n = len(members)
        # With as many units as there are, the figures would vary too little by (n - 1) / n.
        drawn = generator.integers(n, size=(n_resamples, max(n - 1, 1)))
        drawn += np.arange(n_resamples)[:, None] * n
        times = np.bincount(drawn.ravel(), minlength=n_resamples * n)
        weights[:, members] = times.reshape(n_resamples, n) * (n / max(n - 1, 1))
    return weights
