"""Choose which new tokens to leave out or to pin, and extend again with these choices."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from ui.look.labels import plain_text, token_label
from ui.shell import workspace
from ui.storage.run_store import StoredRun

MOST_CHOSEN: Final = 500
_LONGEST_LABEL: Final = 40


@dataclass(frozen=True, slots=True)
class TokenChoices:
    """The new tokens of a run that its visitor pinned or left out, to extend again."""

    run_id: str
    pinned: tuple[str, ...]
    """Their bytes in hexadecimal."""
    left_out: tuple[str, ...]
    """Their bytes in hexadecimal."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen among new tokens."""

    to_extend: TokenChoices | None = None
    """Those with which an extension was just asked for; None once it has begun."""
    to_replace: TokenChoices | None = None
    """Those that Replace pins or leaves out; `run_id` is the base's fingerprint."""


def choose_tokens(
    id: str,
    offered: Sequence[bytes],
    first: TokenChoices,
    *,
    again: str,
    explanation: str,
) -> TokenChoices | None:
    """Draw the choices among the offered tokens; return them once the button `again` is pressed.

    `id` is that of the result whose tokens these are, and `first` is what is chosen at first.
    """
    tokens = [token.hex() for token in offered]
    st.markdown(
        ":gray[Leave out a token that you do not want, or pin one to make it again whatever else "
        "changes. The search above finds more tokens.]"
    )
    left, right = st.columns(2)
    with left:
        left_out = _choice("Leave out", tokens, [*first.left_out], key=f"adapt_leave_out_{id}")
    with right:
        pinned = _choice("Pin", tokens, [*first.pinned], key=f"adapt_pin_{id}")
    if both := set(left_out) & set(pinned):
        named = ", ".join(sorted(plain_text(_label(token)) for token in both)[:5])
        st.warning(f"Left out and pinned at once: {named}. A token that is left out is never made.")
    changed = bool(left_out or pinned or first.left_out or first.pinned)
    is_pressed = st.button(again, key="extend_again", disabled=not changed)
    st.markdown(f":small[:gray[{explanation}]]")
    return TokenChoices(id, tuple(pinned), tuple(left_out)) if is_pressed else None


def left_out_of(stored: StoredRun) -> list[str]:
    """Return the tokens that were left out of a run, as hexadecimal bytes."""
    return [token.hex() for token in stored.run.left_out]


def pinned_of(stored: StoredRun) -> list[str]:
    """Return the tokens that were pinned for a run, as hexadecimal bytes."""
    return [cost.term.hex() for cost in stored.run.terms if isinstance(cost.term, bytes)]


def _choice(label: str, tokens: Sequence[str], first: list[str], *, key: str) -> list[str]:
    chosen = workspace.widget_choices(key, first)
    options = list(dict.fromkeys([*chosen, *tokens]))
    names = labels_of(options)
    return st.multiselect(
        label,
        options,
        default=first,
        format_func=names.__getitem__,
        key=key,
        max_selections=MOST_CHOSEN,
        placeholder="None",
        persist_state="session",
    )


def labels_of(tokens: Sequence[str]) -> dict[str, str]:
    """Return a name for each token, given as hexadecimal bytes; no two are the same.

    >>> labels_of(["20687567", "f0"])
    {'20687567': '␣hug', 'f0': '<F0>'}
    """
    labels = {token: _label(token) for token in tokens}
    times = Counter(labels.values())
    return {
        token: label
        if times[label] == 1
        else f"{label} {hashlib.sha256(token.encode()).hexdigest()[:8]}"
        for token, label in labels.items()
    }


def _label(token: str) -> str:
    return plain_text(token_label(bytes.fromhex(token)), _LONGEST_LABEL)
