"""Ask which tokens may be removed: in which order, of which scripts, and which are kept."""

from __future__ import annotations

from collections import Counter
from typing import Final, cast

import streamlit as st

from bpe_core.adapting.shrink import RemovalOrder
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.adapt.adapting_process import Removable
from ui.adapt.kept_tokens import read_kept_tokens
from ui.adapt.scripts import scripts_of
from ui.corpus.address_text import area_to_address, start_area
from ui.look.labels import plain_markdown

_ORDERS: Final = {"fewest-uses": "Least used first", "last-learned": "Last learned first"}
_MOST_CHARACTERS: Final = 100_000
_KEEP: Final = "adapt_keep"


def ask_what_may_go(tokenizer: Tokenizer) -> Removable | None:
    """Draw the order of removal, the scripts and the tokens to keep; None if a line is wrong."""
    st.header("Tokens to remove", anchor=False)
    order = st.segmented_control(
        "Order of removal",
        list(_ORDERS),
        default="fewest-uses",
        required=True,
        format_func=_ORDERS.__getitem__,
        key="shrink_order",
        help="A token is removed only once no other is merged from it. Of those, the one your text "
        "uses least is removed first, or the one learned last, whatever its uses.",
        persist_state="session",
        bind="query-params",
    )
    n_of = Counter(scripts_of(tokenizer).values())
    scripts = st.multiselect(
        "Remove only tokens of these scripts",
        [script for script, _ in n_of.most_common()],
        format_func=lambda script: f"{script} ({n_of[script]:,})",
        key=f"shrink_only_{tokenizer.fingerprint[:12]}",
        placeholder="All scripts",
        help="A token belongs to the script of most of its letters.",
        persist_state="session",
        bind="query-params",
    )
    pinned = ask_what_stays(tokenizer)
    if pinned is None:
        return None
    # Not set at once after the browser's Back.
    chosen = cast(RemovalOrder, order or "fewest-uses")
    return Removable(chosen, tuple(sorted(scripts)), pinned)


def ask_what_stays(tokenizer: Tokenizer) -> tuple[int, ...] | None:
    """Draw the field for the tokens to keep; return their ids, or None if a line is wrong."""
    start_area(_KEEP, "")
    text = st.text_area(
        "Keep these tokens",
        key=_KEEP,
        height=104,
        max_chars=_MOST_CHARACTERS,
        placeholder="␣Kubernetes\n␣Berlin",
        help="One per line, with ␣ for the space that a token begins with. The tokens that they "
        "are merged from stay too. The alphabet and special tokens always stay.",
        persist_state="session",
    )
    area_to_address(_KEEP, text or "", first="", longest=_MOST_CHARACTERS)
    kept = read_kept_tokens(text or "", tokenizer)
    if kept.problem:
        st.error(plain_markdown(kept.problem, 1_000))
        return None
    return kept.ids
