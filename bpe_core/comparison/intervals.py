"""Estimate how far a figure may be off, by resampling the units of the text: the bootstrap.

In each stratum units are drawn with replacement, one fewer than there are, and the figure is
computed again from the sums of what was drawn. Both tokenizers are counted on the same drawn units,
so what makes a unit hard for both cancels out. The interval is between percentiles of the figures.

Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13; for strata and
one unit fewer, Rao and Wu 1988, "Resampling inference with complex survey data".
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.held_out import MIN_UNITS

N_RESAMPLES: Final = 2_000
SEED: Final = 0
LEVEL: Final = 0.95


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
    own: NDArray[np.int64],
    theirs: NDArray[np.int64],
    strata: NDArray[np.int64] | None = None,
    *,
    n_resamples: int = N_RESAMPLES,
) -> NDArray[np.float64]:
    """Return the interval of each figure's `percent_fewer`, float64[n_figures, 2].

    `own` and `theirs` are the counts of the same units, int64[n_units, n_figures]; `strata` is the
    stratum of each unit, int64[n_units], or None for one stratum. A figure has nan instead of an
    interval if fewer than `MIN_UNITS` units have any count for it, or if `theirs` is 0 in more than
    a few resamples.

    >>> own = np.array([[8], [9]] * 50)
    >>> intervals(own, np.full((100, 1), 10)).round(1).tolist()
    [[14.0, 16.0]]
    """
    n_units, n_figures = own.shape
    found = np.full((n_figures, 2), np.nan)
    has_enough = ((own > 0) | (theirs > 0)).sum(axis=0) >= MIN_UNITS
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
    generator = np.random.default_rng(SEED)
    for number in np.unique(strata):
        members = np.flatnonzero(strata == number)
        n = len(members)
        # With as many units as there are, the figures would vary too little by (n - 1) / n.
        drawn = generator.integers(n, size=(n_resamples, max(n - 1, 1)))
        drawn += np.arange(n_resamples)[:, None] * n
        times = np.bincount(drawn.ravel(), minlength=n_resamples * n)
        weights[:, members] = times.reshape(n_resamples, n) * (n / max(n - 1, 1))
    return weights
