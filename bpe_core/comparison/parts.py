"""Measure how many fewer tokens one tokenizer needs than another: with an interval, and by part.

The parts are the kinds of tokens, the scripts, the file types and the files of the text. Each token
counts once in each of these divisions, so the parts of each add up to the whole. A kind or script
counts the tokens that each tokenizer uses there, which may be none: a tokenizer whose tokens join
words with the space before them has few tokens of white space alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe
from bpe_core.comparison.blocks import Blocks
from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.intervals import intervals, percent_fewer
from bpe_core.comparison.text_map import TOKEN_KINDS
from bpe_core.errors import ConfigError
from bpe_core.unicode.script_codes import NO_LETTER, SCRIPT_GROUPS

MIN_TOKENS: Final = 300
"""With fewer tokens of either tokenizer, the text is too short to judge by."""
POINTS_APART: Final = 10.0
"""A part disagrees if its figure differs from the whole's by this many percentage points, or by
half of the whole's figure if that is less, but by at least `MIN_POINTS`."""
MIN_POINTS: Final = 3.0
MIN_SCRIPT_SHARE: Final = 0.01
"""Scripts with a smaller share of all tokens are taken together."""
OTHER_SCRIPTS: Final = "other scripts"
MIN_SHARE: Final = 0.05
"""A part with a smaller share of the tokens does not count as disagreeing."""

Way = Literal["fewer", "more", "unclear"]
Division = Literal["kind", "script", "type", "file"]


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


class TokenSaving(NamedTuple):
    """The tokens that one tokenizer saves against another on a text."""

    whole: TextPart
    divisions: tuple[tuple[Division, tuple[TextPart, ...]], ...]
    """The parts by kind, script, type and file, without divisions that have only one part."""

    @property
    def has_enough_text(self) -> bool:
        """True if there are enough tokens to say who needs fewer of them on this text."""
        return min(self.whole.own, self.whole.theirs) >= MIN_TOKENS

    @property
    def disagreeing(self) -> tuple[tuple[Division, TextPart], ...]:
        """The parts whose figure differs materially from the whole's, the weightiest first.

        Such a part has `MIN_SHARE` of the other tokenizer's tokens, and an interval without
        the whole's figure. It goes the other way, or is far away: see `POINTS_APART`.
        """
        found: list[tuple[Division, TextPart]] = [
            (division, part)
            for division, parts in self.divisions
            for part in parts
            if _disagrees(part, self.whole)
        ]
        return tuple(sorted(found, key=lambda each: -_weight(each[1], self.whole)))


def compute_gain(comparison: Comparison, first: int = 0, second: int = 1) -> TokenSaving:
    """Return the tokens that one tokenizer saves against another, with intervals and by part.

    Raises OutOfRangeError for an invalid index, and ConfigError for a comparison made without
    `compare`.

    >>> from bpe_core.comparison.comparison import compare
    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> comparison = compare("the bare bytes\\n" * 200, [gpt2(), gpt2().truncated(0)])
    >>> gain = compute_gain(comparison)
    >>> gain.whole.own, gain.whole.theirs, round(gain.whole.percent_fewer, 1)
    (800, 3000, 73.3)
    >>> [(part.name, part.own, part.theirs) for part in dict(gain.divisions)["kind"]]
    [('words', 600, 2400), ('white space', 200, 600)]
    """
    comparison.verdict(first, second)
    blocks = comparison.blocks
    if blocks is None:
        raise ConfigError(
            f"Expected a comparison made by `compare`, got {describe(comparison)} without blocks."
        )
    pair = [comparison.by_block[place] for place in (first, second)]
    totals = [counts.kinds.sum(axis=1, keepdims=True) for counts in pair]
    of_whole: _Columns = ["all"], totals
    divisions: list[tuple[Division, _Columns]] = [
        ("kind", (TOKEN_KINDS, [counts.kinds for counts in pair])),
        ("script", _scripts(*(counts.scripts for counts in pair))),
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


_Columns = tuple[Sequence[str], list[NDArray[np.int64]]]
"""Names, and for both tokenizers the counts of each name, int64[n_blocks, n_names]."""


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
    names = [*(SCRIPT_GROUPS[code] for code in frequent.tolist()), OTHER_SCRIPTS]
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
    apart = min(POINTS_APART, max(MIN_POINTS, abs(whole.percent_fewer) / 2))
    return abs(part.percent_fewer - whole.percent_fewer) >= apart


def _weight(part: TextPart, whole: TextPart) -> float:
    """How far the part moves the whole: its share of the tokens times its distance in points."""
    return part.theirs * abs(part.percent_fewer - whole.percent_fewer)
