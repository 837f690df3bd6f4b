"""States of the UTF-8 decoder, compared with Python's own decoder."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_core.unicode.utf8_states import (
    BETWEEN_CHARACTERS,
    N_STATES,
    NO_STATE,
    are_whole_characters,
    list_entries,
    state_after,
)

# Arbitrary bytes, and encoded characters truncated at both ends.
DATA = st.binary(max_size=6) | st.builds(
    lambda text, start, end: text.encode()[start : len(text.encode()) - end],
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
    st.integers(0, 4),
    st.integers(0, 4),
)


@given(DATA)
def test_whole_characters_end_between_characters(data: bytes) -> None:
    assert are_whole_characters(data) == (state_after(data) == BETWEEN_CHARACTERS)


@given(DATA)
def test_entries_are_the_states_in_which_bytes_are_valid(data: bytes) -> None:
    after = {state: state_after(data, state) for state in range(N_STATES)}
    assert list_entries(data) == {s: end for s, end in after.items() if end != NO_STATE}
