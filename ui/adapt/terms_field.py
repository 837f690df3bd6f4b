"""Ask for the words of a domain that are to be tokens before any other is learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from bpe_core.comparison.terms import read_terms
from bpe_core.runs.term_merges import TermCost
from ui.corpus.address_text import area_to_address, start_area
from ui.look.term_lists import lines_left_out

_MOST_CHARACTERS: Final = 100_000


def terms_of(costs: Sequence[TermCost]) -> str:
    """Return terms as they are typed, one per line; pinned tokens are none of them.

    >>> terms_of([TermCost("hug", b" hug"), TermCost(b"ug", b"ug"), TermCost("pun", None)])
    'hug\\npun'
    """
    return "\n".join(cost.term for cost in costs if isinstance(cost.term, str))


def ask_for_terms(key: str, first: str) -> tuple[str, ...]:
    """Draw the field for domain terms, which begins with `first`; return them."""
    start_area(key, first)
    text = st.text_area(
        "Domain terms, one per line",
        key=key,
        height=104,
        max_chars=_MOST_CHARACTERS,
        placeholder="Kubernetes\nkubelet",
        help="Each is made one token before any other is learned. The result says what each cost "
        "in new tokens, how often your text contains it, or why it cannot be a token.",
        persist_state="session",
    )
    area_to_address(key, text or "", first=first, longest=_MOST_CHARACTERS)
    listed = read_terms(text or "")
    if words := lines_left_out(listed):
        st.warning(words)
    if listed.terms:
        n = len(listed.terms)
        st.markdown(
            f":gray[:small[{n:,} {'term is' if n == 1 else 'terms are'} tried first. Their merges "
            "count among the new tokens.]]"
        )
    return listed.terms
