"""The automaton of a pattern, run by hand, finds what Python's `re` finds in shadows."""

from __future__ import annotations

import re
from itertools import product

import pytest

from bpe_core.errors import PatternError
from bpe_core.kernels.mask_scanning import FROM_RIGHT
from bpe_core.pretokenizers import NAMED, SCANNERS
from bpe_core.pretokenizers.named_patterns import over_shadows
from bpe_core.pretokenizers.scanners import (
    BACK,
    DROPS,
    ENDS,
    STOPS,
    Automaton,
    compile_automaton,
    get_scanner,
)


def cut(automaton: Automaton, text: str) -> list[str]:
    """Cut a shadow by the table, as the kernel does."""
    found: list[str] = []
    begin = last = at = state = 0
    kept = True
    while begin < len(text):
        column = automaton.columns[text[at]] if at < len(text) else automaton.n_columns - 1
        state, flags = automaton.rows[state][column]
        if flags & (ENDS | STOPS):
            last, kept = at, not flags & DROPS
        if flags & (ENDS | BACK):
            found += [text[begin:last]] if kept else []
            begin = last
        if flags & BACK or at == len(text):
            at, state = last, 0
        else:
            at += 1
    return found


# A cut from the right has no automaton of its own: kernels move the ends that another finds.
OF_THEIR_OWN = [name for name in SCANNERS if not get_scanner(name).rules & FROM_RIGHT]


@pytest.mark.parametrize("name", OF_THEIR_OWN)
def test_every_short_text_is_cut_as_by_re(name: str) -> None:
    named = NAMED[name]
    assert named.pattern is not None
    automaton = compile_automaton(named.pattern, dropped=r"\s+" if named.drops_text else None)
    columns = {column: character for character, column in reversed(automaton.columns.items())}
    by_re = re.compile(over_shadows(named.pattern))
    length = 4 if len(columns) < 16 else 3
    for n in range(1, length + 1):
        for characters in product(columns.values(), repeat=n):
            text = "".join(characters)
            assert cut(automaton, text) == by_re.findall(text), text


@pytest.mark.parametrize("pattern", ["a(", r"\S+|\w", "(?=a)b|.", "a", r"\S+|\s{2}", "(a)|[^a]"])
def test_what_cannot_be_compiled_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_automaton(pattern)
