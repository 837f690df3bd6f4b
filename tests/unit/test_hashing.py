"""Keys of words hold their lengths, also of words larger than four gigabytes."""

from __future__ import annotations

import numpy as np
import pytest

from bpe_core.kernels.hashing import LONG, word_key, word_width


@pytest.mark.parametrize("width", [0, 1, 15, 16, 300])
def test_a_key_holds_the_width_of_its_word(width: int) -> None:
    text = np.frombuffer(b"ab" * 200, np.uint8)
    with np.errstate(over="ignore"):
        _, high = word_key(text, np.uint64(3), np.uint64(width))
    assert word_width(high) == width


def test_a_key_holds_the_width_of_a_word_of_more_than_four_gigabytes() -> None:
    assert word_width(LONG | np.uint64(2**32 + 10)) == 2**32 + 10
