"""What only a parity-aware run has: who picked each merge, and what it did to each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError
from bpe_core.trainers import TOGETHER
from bpe_core.types import read_only


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
