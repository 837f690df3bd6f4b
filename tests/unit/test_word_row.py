"""Words in one row, their hashes and the sorting of pairs, compared with simpler code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.corpus import Layout, word_row
from bpe_core.kernels import MISSING, word_counter
from bpe_core.kernels.hashing import LONG, word_key, word_width
from bpe_core.trainers.pair_tables import argsort_stable, sort_keys
from bpe_core.types import Base, PretokenCounts

words_and_counts = st.dictionaries(
    st.text("abé漢🙂\uffff\U0010ffff", min_size=1, max_size=6), st.integers(1, 2**40), max_size=6
)


@given(words_and_counts, st.sampled_from(["bytes", "characters"]), st.none() | st.just(99))
def test_a_row_of_pretokens_equals_the_row_of_their_symbols(
    words: dict[str, int], base: Base, end_of_word_id: int | None
) -> None:
    def symbols(word: str) -> list[bytes]:
        return (
            [c.encode() for c in word]
            if base == "characters"
            else [bytes([b]) for b in word.encode()]
        )

    # Leave one symbol out of the alphabet.
    known = sorted({symbol for word in words for symbol in symbols(word)})[1:]
    base_ids = {symbol: id for id, symbol in enumerate([*known, b"x", b"\x7f"], 7)}
    pretokens = PretokenCounts(
        tuple(word.encode() for word in words), np.array(list(words.values()), np.int64)
    )
    marker = [] if end_of_word_id is None else [end_of_word_id]
    spelled = [[*(base_ids.get(s, MISSING) for s in symbols(word)), *marker] for word in words]
    found = Layout.of_symbols(pretokens, base, base_ids, end_of_word_id)
    plain = Layout.of_words(spelled, words.values())
    weights = [0]
    for word, count in zip(spelled, words.values(), strict=True):
        weights += [*[count] * len(word), 0]
    assert found.ids.tolist() == plain.ids.tolist()
    assert found.weights().tolist() == plain.weights().tolist() == weights
    assert found.n_symbols == sum(weights)
    assert (found.ids.dtype, found.weights().dtype) == (np.int32, np.int64)


@given(words_and_counts, st.integers(1, 4))
def test_the_kernel_lays_words_out_in_any_number_of_parts(
    words: dict[str, int], n_parts: int
) -> None:
    pretokens = PretokenCounts(
        tuple(word.encode() for word in words), np.array(list(words.values()), np.int64)
    )
    base_ids = {bytes([byte]): 2 * byte for byte in range(256) if byte != ord("a")}
    plain = Layout.of_symbols(pretokens, "bytes", base_ids)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counter, "n_threads", lambda: n_parts)
        patch.setattr(word_counter, "_MIN_LETTERS", 1)
        patch.setattr(word_row, "use_kernels", lambda n_bytes: True)
        found = Layout.of_symbols(pretokens, "bytes", base_ids)
    assert found.ids.tolist() == plain.ids.tolist()
    assert found.weights().tolist() == plain.weights().tolist()
    assert found.ids.dtype == plain.ids.dtype


# Keys of words hold their lengths, also of words larger than four gigabytes


@pytest.mark.parametrize("width", [0, 1, 15, 16, 300])
def test_a_key_holds_the_width_of_its_word(width: int) -> None:
    text = np.frombuffer(b"ab" * 200, np.uint8)
    with np.errstate(over="ignore"):
        _, high = word_key(text, np.uint64(3), np.uint64(width))
    assert word_width(high) == width


def test_a_key_holds_the_width_of_a_word_of_more_than_four_gigabytes() -> None:
    assert word_width(LONG | np.uint64(2**32 + 10)) == 2**32 + 10


# Sorting codes and pairs as packed ints, compared with NumPy's stable sorts


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
