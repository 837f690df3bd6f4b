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
from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.intervals import intervals, percent_fewer
from bpe_core.comparison.text_map import TOKEN_KINDS
from bpe_core.errors import ConfigError
from bpe_core.unicode.script_codes import NO_LETTER, SCRIPT_GROUPS

FEWEST_TOKENS: Final = 300
"""With fewer tokens of either tokenizer, the text is too short to judge by."""
POINTS_APART: Final = 10.0
"""A part disagrees if its figure differs from the whole's by this many percentage points, or by
half of the whole's figure if that is less, but by at least `FEWEST_POINTS`."""
FEWEST_POINTS: Final = 3.0
SMALLEST_SCRIPT: Final = 0.01
"""Scripts with a smaller share of all tokens are taken together."""
OTHER_SCRIPTS: Final = "other scripts"
SMALLEST_SHARE: Final = 0.05
"""A part with a smaller share of the tokens does not count as disagreeing."""

Way = Literal["fewer", "more", "unclear"]
Division = Literal["kind", "script", "type", "file"]


class Part(NamedTuple):
    """The token counts of two tokenizers on a text or a part of it."""

    name: str
    """May come from a visitor, as the name of a file."""
    own: int
    theirs: int
    n_blocks: int
    """How many blocks have any of these tokens."""
    percent_fewer: float
    """100 × (1 - own / theirs), negative if `own` is more; nan if `theirs` is 0."""
    low: float
    """The ends of the 95 % interval; nan if there are too few blocks for one."""
    high: float

    @property
    def way(self) -> Way:
        """The direction of the difference; "unclear" if the interval includes 0 or is missing."""
        if self.low > 0:
            return "fewer"
        return "more" if self.high < 0 else "unclear"


class Gain(NamedTuple):
    """The tokens that one tokenizer saves against another on a text."""

    whole: Part
    divisions: tuple[tuple[Division, tuple[Part, ...]], ...]
    """The parts by kind, script, type and file, without divisions that have only one part."""

    @property
    def has_enough_text(self) -> bool:
        """True if there is enough text, in enough blocks, to say who needs fewer tokens."""
        fewest = min(self.whole.own, self.whole.theirs)
        return fewest >= FEWEST_TOKENS and not math.isnan(self.whole.low)

    @property
    def disagreeing(self) -> tuple[tuple[Division, Part], ...]:
        """The parts whose figure differs materially from the whole's, the weightiest first.

        Such a part has `SMALLEST_SHARE` of the other tokenizer's tokens, and an interval without
        the whole's figure. It goes the other way, or is far away: see `POINTS_APART`.
        """
        found: list[tuple[Division, Part]] = [
            (division, part)
            for division, parts in self.divisions
            for part in parts
            if _disagrees(part, self.whole)
        ]
        return tuple(sorted(found, key=lambda each: -_weight(each[1], self.whole)))


def gain_of(comparison: Comparison, first: int = 0, second: int = 1) -> Gain:
    """Return the tokens that one tokenizer saves against another, with intervals and by part.

    Raises ConfigError for an invalid index, and for a comparison made without `compare`.

    >>> from bpe_core.comparison.comparison import compare
    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> comparison = compare("the bare bytes\\n" * 200, [gpt2(), gpt2().truncated(0)])
    >>> gain = gain_of(comparison)
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
    kinds = [comparison.by_block[place].kinds for place in (first, second)]
    scripts = [comparison.by_block[place].scripts for place in (first, second)]
    totals = [counts.sum(axis=1, keepdims=True) for counts in kinds]
    whole = next(iter(_columns(["all"], *totals)), Part("all", 0, 0, 0, *[math.nan] * 3))
    divisions: list[tuple[Division, list[Part]]] = [
        ("kind", _columns(TOKEN_KINDS, *kinds)),
        ("script", _scripts(*scripts)),
        ("type", _rows(blocks.types, blocks.type_of_block, *totals)),
        ("file", _rows(blocks.files, blocks.file_of_block, *totals)),
    ]
    return Gain(
        whole, tuple((division, tuple(parts)) for division, parts in divisions if len(parts) > 1)
    )


def _columns(names: Sequence[str], own: NDArray[np.int64], theirs: NDArray[np.int64]) -> list[Part]:
    """Return a part for each column of counts, int64[n_blocks, n_names], unless all are 0."""
    has_any = (own > 0) | (theirs > 0)
    n_blocks = has_any.sum(axis=0)
    sums = own.sum(axis=0), theirs.sum(axis=0)
    figures, ends = percent_fewer(*sums), intervals(own, theirs)
    return [
        Part(
            name,
            own=int(sums[0][column]),
            theirs=int(sums[1][column]),
            n_blocks=int(n_blocks[column]),
            percent_fewer=float(figures[column]),
            low=float(ends[column, 0]),
            high=float(ends[column, 1]),
        )
        for column, name in enumerate(names)
        if n_blocks[column]
    ]


def _scripts(own: NDArray[np.int64], theirs: NDArray[np.int64]) -> list[Part]:
    """Return a part for each frequent script, and for the others together.

    There are no parts for a text in one script: they would only repeat those by kind.
    """
    sums = (own + theirs).sum(axis=0)
    is_frequent = sums >= SMALLEST_SCRIPT * sums.sum()
    is_frequent[NO_LETTER] = sums[NO_LETTER] > 0
    frequent = np.flatnonzero(is_frequent)
    if np.count_nonzero(frequent != NO_LETTER) < 2:
        return []
    # `_columns` leaves the last out if there are no others.
    columns = [
        np.column_stack([counts[:, frequent], counts[:, ~is_frequent].sum(axis=1)])
        for counts in (own, theirs)
    ]
    return _columns([*(SCRIPT_GROUPS[code] for code in frequent.tolist()), OTHER_SCRIPTS], *columns)


def _rows(
    names: Sequence[str],
    name_of_block: NDArray[np.int64],
    own: NDArray[np.int64],
    theirs: NDArray[np.int64],
) -> list[Part]:
    """Return a part for each name, from its own blocks only; counts are int64[n_blocks, 1]."""
    return [
        part
        for place, name in enumerate(names)
        for part in _columns([name], own[name_of_block == place], theirs[name_of_block == place])
    ]


def _disagrees(part: Part, whole: Part) -> bool:
    if part.theirs < SMALLEST_SHARE * whole.theirs or math.isnan(part.low):
        return False
    if part.low <= whole.percent_fewer <= part.high:
        return False
    if whole.way != "unclear" and part.way not in (whole.way, "unclear"):
        return True
    apart = min(POINTS_APART, max(FEWEST_POINTS, abs(whole.percent_fewer) / 2))
    return abs(part.percent_fewer - whole.percent_fewer) >= apart


def _weight(part: Part, whole: Part) -> float:
    """How far the part moves the whole: its share of the tokens times its distance in points."""
    return part.theirs * abs(part.percent_fewer - whole.percent_fewer)
