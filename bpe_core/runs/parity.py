"""What only a parity-aware run has: who picked each merge, and what it did to each language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.comparison import gini
from bpe_core.errors import FormatError
from bpe_core.trainers import TOGETHER
from bpe_core.types import read_only


class Fairness(NamedTuple):
    """How evenly texts in several languages are cut."""

    gini: float
    """The Gini coefficient of their numbers of tokens: 0 if all are equal."""
    longest_to_shortest: float
    """The tokens of the longest divided by those of the shortest."""

    @classmethod
    def of(cls, lengths: Sequence[int]) -> Fairness:
        """Return the fairness of numbers of tokens.

        >>> Fairness.of([2, 2, 4]).longest_to_shortest
        2.0
        """
        return cls(gini(lengths), max(lengths) / max(min(lengths), 1))


@dataclass(frozen=True, slots=True, eq=False)
class ParityHistory:
    """The languages of a parity-aware run, and what each merge did to them.

    >>> lengths = np.array([[3, 3, 2], [4, 2, 2]])
    >>> history = ParityHistory(("en", "xx"), np.array([1, 0], np.int32), lengths)
    >>> history.picked_by.tolist(), history.lengths_of("en").tolist()
    (['xx', 'en'], [3, 3, 2])
    """

    languages: tuple[str, ...]
    picked: NDArray[np.int32]
    """int32[n_merges]: the number of the language that picked each merge, or TOGETHER."""
    lengths: NDArray[np.int64]
    """int64[n_languages, n_merges + 1]: the tokens of each language's text after so many merges."""
    hybrid_merges: int = 0
    window: int | None = None
    alpha: float = 2.0
    has_development: bool = False
    """Whether other texts than those trained on were measured."""
    plain: tuple[int, ...] = ()
    """The tokens of each language's text under plain BPE of the same size; empty if not counted."""

    @property
    def picked_by(self) -> NDArray[np.str_]:
        """The language that picked each merge; "" for those that all chose together."""
        return read_only(np.array([*self.languages, ""])[self.picked])

    def lengths_of(self, language: str) -> NDArray[np.int64]:
        """Return int64[n_merges + 1]: the tokens of a language's text after so many merges."""
        return read_only(self.lengths[self.languages.index(language)])

    def fairness(self) -> Fairness:
        """Return how evenly the languages' texts are cut after the last merge."""
        return Fairness.of(self.lengths[:, -1].tolist())

    def fairness_of_plain(self) -> Fairness | None:
        """Return how evenly plain BPE cuts the same texts; None if that was not counted."""
        return Fairness.of(self.plain) if self.plain else None

    def sentence(self) -> str:
        """Return how evenly the languages are served, next to plain BPE if that was counted.

        >>> lengths = np.array([[9, 9, 6], [8, 6, 6]])
        >>> history = ParityHistory(("en", "xx"), np.array([1, 0]), lengths, plain=(5, 8))
        >>> print(history.sentence().replace("; ", "\\n"))
        The longest text takes 1.00 times the tokens of the shortest, Gini coefficient 0.000
        under plain BPE of the same size, 1.60 times and 0.115.
        """
        after, plain = self.fairness(), self.fairness_of_plain()
        found = (
            f"The longest text takes {after.longest_to_shortest:.2f} times the tokens of the "
            f"shortest, Gini coefficient {after.gini:.3f}"
        )
        if plain is None:
            return f"{found}."
        return (
            f"{found}; under plain BPE of the same size, {plain.longest_to_shortest:.2f} times and "
            f"{plain.gini:.3f}."
        )

    def picks(self, most: int) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
        """Return who picked when, in at most so many stretches of the run.

        These are the languages that picked, the busiest first; for each, float64[n_stretches], its
        share of the merges of each stretch; and the stretches' ends, float64[n_stretches + 1].

        >>> history = ParityHistory(("en", "xx"), np.array([1, 0, 1, 1]), np.zeros((2, 5)))
        >>> names, shares, edges = history.picks(2)
        >>> names, shares.tolist(), edges.tolist()
        (['xx', 'en'], [[0.5, 1.0], [0.5, 0.0]], [0.0, 2.0, 4.0])
        """
        n = self.picked.size
        edges = np.linspace(0, n, min(most, max(n, 1)) + 1)
        names = [*self.languages, "all together"]
        numbers = np.where(self.picked == TOGETHER, len(self.languages), self.picked)
        bins = (np.arange(len(names) + 1) - 0.5, edges)
        found, _, _ = np.histogram2d(numbers, np.arange(n) + 0.5, bins)
        order = [each for each in np.argsort(-found.sum(1), kind="stable") if found[each].any()]
        shares = found[order] / np.maximum(found.sum(0), 1)
        return [names[each] for each in order], shares, edges

    def rows(self) -> list[tuple[str, int, int | None, int, int]]:
        """Return for each language its tokens before any merge, under plain BPE and with parity.

        The last figure is how many merges it picked.
        """
        picked = np.bincount(self.picked[self.picked >= 0], minlength=len(self.languages)).tolist()
        plain = self.plain or [None] * len(self.languages)
        before, after = self.lengths[:, 0].tolist(), self.lengths[:, -1].tolist()
        return list(zip(self.languages, before, plain, after, picked, strict=True))

    def cut(self, n_merges: int) -> ParityHistory:
        """Return the history of the first merges; plain BPE of that size is not known."""
        lengths = self.lengths[:, : n_merges + 1]
        return replace(self, picked=self.picked[:n_merges], lengths=lengths, plain=())

    def to_dict(self) -> dict[str, Any]:
        """Return all but the arrays as JSON values."""
        return {
            "languages": [*self.languages],
            "hybrid_merges": self.hybrid_merges,
            "window": self.window,
            "alpha": self.alpha,
            "has_development": self.has_development,
            "plain": [*self.plain],
        }


def parse_history(
    found: Mapping[str, Any], picked: NDArray[np.int32], lengths: NDArray[np.int64], n_merges: int
) -> ParityHistory:
    """Return what `ParityHistory.to_dict` described; raise FormatError if it is damaged.

    >>> described = {"languages": ["en", "xx"], "hybrid_merges": 0, "window": None, "alpha": 2.0,
    ...     "has_development": False, "plain": []}
    >>> picked, lengths = np.array([1], np.int32), np.array([3, 3, 4, 2])
    >>> parse_history(described, picked, lengths, 1).lengths.tolist()
    [[3, 3], [4, 2]]
    """
    match found:
        case {
            "languages": [*languages],
            "hybrid_merges": int(hybrid),
            "window": int() | None as window,
            "alpha": int() | float() as alpha,
            "has_development": bool(has_development),
            "plain": [*plain],
        }:
            pass
        case _:
            raise FormatError(f"Expected the settings of a parity-aware run, got {found!r:.60}.")
    n = len(languages)
    if not all(isinstance(name, str) for name in languages) or len(set(languages)) != n or n < 2:
        raise FormatError(f"Expected two or more distinct languages, got {languages!r:.60}.")
    if not all(isinstance(each, int) and each >= 0 for each in plain) or len(plain) not in (0, n):
        raise FormatError("Expected the tokens of each language under plain BPE.")
    if picked.size != n_merges or (picked < TOGETHER).any() or (picked >= n).any():
        raise FormatError("Expected for each merge the number of the language that picked it.")
    if lengths.size != n * (n_merges + 1):
        raise FormatError("Expected each language's tokens after each merge.")
    lengths = lengths.reshape(n, -1)
    if (lengths < 0).any() or (np.diff(lengths) > 0).any():
        raise FormatError("A language's tokens rise from one merge to the next.")
    return ParityHistory(
        tuple(languages), picked, lengths, hybrid, window, alpha, has_development, tuple(plain)
    )
