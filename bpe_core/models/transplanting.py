"""Express a donor model's rows by few rows of tokens that the base has too.

Where another model has a token that is new to the base, its row there says what the token means. A
row of the donor is no use in the base, whose directions are others; but the combination of shared
tokens that comes near to it in the donor is one in the base as well. Orthogonal matching pursuit
finds that combination: in each step it takes the shared token whose row has the largest inner
product with what is left of the target, and fits all coefficients again by least squares (Goddard
and Fernandes Neto, "Training-Free Tokenizer Transplantation via Orthogonal Matching Pursuit",
arXiv 2506.06607).

Rows are read in blocks, once for each step, so memory does not grow with the donor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.models.tensors import Rows

N_ATOMS: Final = 64
_MAX_BYTES: Final = 256_000_000
"""The rows of all atoms of the targets that are fitted together, as float32."""
OnProgress = Callable[[str, int, int], object]


class Combination(NamedTuple):
    """A row as a sum of others."""

    ids: NDArray[np.int64]
    """int64[n]: the rows."""
    weights: NDArray[np.float64]
    """float64[n]"""


def combine_shared(
    donor: Rows,
    targets: Mapping[int, int],
    shared: Mapping[int, int],
    n_atoms: int,
    look: OnProgress,
) -> dict[int, Combination]:
    """Return new rows as sums of the base's rows.

    `targets` are the donor's ids of the new tokens, and `shared` the base's ids of the donor's
    tokens that both have.
    """
    wanted = np.fromiter(targets.values(), np.int64, len(targets))
    allowed = np.zeros(donor.n_rows, np.bool_)
    allowed[[*shared]] = True
    n_atoms = min(n_atoms, len(shared), donor.n_columns)
    found: dict[int, Combination] = {}
    size = max(1, _MAX_BYTES // (4 * donor.n_columns * max(1, n_atoms)))
    new_ids = [*targets]
    for first in range(0, len(wanted), size):
        rows = donor.take(wanted[first : first + size].tolist())
        atoms, weights = pursue(donor, allowed, rows, n_atoms, look)
        for id, its, of_them in zip(new_ids[first : first + size], atoms, weights, strict=True):
            base_ids = np.array([shared[atom] for atom in its.tolist()], np.int64)
            found[id] = Combination(base_ids, of_them)
    return found


def pursue(
    rows: Rows,
    allowed: NDArray[np.bool_],
    targets: NDArray[np.float32],
    n_atoms: int,
    look: OnProgress = lambda _, __, ___: None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return which allowed rows come near to each target as a sum, and their weights.

    They are int64[n_targets, n_atoms], in the order in which they were taken, and float64 of the
    same shape. The first of equal rows is taken.
    """
    n = len(targets)
    chosen = np.zeros((n, n_atoms), np.int64)
    atoms = np.zeros((n, n_atoms, rows.n_columns), np.float32)
    weights = np.zeros((n, n_atoms))
    wide = targets.astype(np.float64)
    left = targets
    for step in range(n_atoms):
        best = np.full(n, -1.0, np.float32)
        for first, block in rows.blocks():
            look(f"Choosing rows of the donor, step {step + 1}", first, rows.n_rows)
            products = np.abs(block @ left.T)
            products[~allowed[first : first + len(block)]] = -1
            taken = chosen[:, :step] - first
            which, place = np.nonzero((taken >= 0) & (taken < len(block)))
            products[taken[which, place], which] = -1
            top = products.argmax(axis=0)
            value = products[top, np.arange(n)]
            is_better = value > best
            best[is_better] = value[is_better]
            chosen[is_better, step] = top[is_better] + first
        atoms[:, step] = rows.take(chosen[:, step].tolist())
        own = atoms[:, : step + 1].astype(np.float64)
        gram = own @ own.transpose(0, 2, 1)
        fitted = np.linalg.pinv(gram, hermitian=True) @ (own @ wide[:, :, np.newaxis])
        weights[:, : step + 1] = fitted[:, :, 0]
        left = (wide - (fitted.transpose(0, 2, 1) @ own)[:, 0]).astype(np.float32)
    return chosen, weights
