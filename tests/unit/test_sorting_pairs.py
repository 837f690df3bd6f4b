"""Sorting codes and pairs as packed ints, compared with NumPy's stable sorts."""

from __future__ import annotations

import numpy as np
import pytest

from bpe_core.trainers.pair_table import argsort_stable, sort_keys

DRAW = np.random.default_rng(0)


@pytest.mark.parametrize("n", [0, 1, 4_095, 4_096, 20_000])
@pytest.mark.parametrize("highest", [0, 3, 2**40, 2**62])
def test_sorting_codes_is_stable(n: int, highest: int) -> None:
    codes = DRAW.integers(0, highest, size=n, endpoint=True)
    assert argsort_stable(codes).tolist() == np.argsort(codes, kind="stable").tolist()


@pytest.mark.parametrize("n", [0, 5, 20_000])
@pytest.mark.parametrize("highest", [1, 300, 2**31 - 1])
def test_sorting_pairs_orders_them_by_their_ids(n: int, highest: int) -> None:
    left, right = DRAW.integers(0, highest, size=(2, n), endpoint=True)
    order = sort_keys(left << 32 | right)
    assert order.tolist() == np.lexsort((right, left)).tolist()
