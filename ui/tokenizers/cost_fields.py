"""Ask for a model's price, width and context window, on any page; no figure is built in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from bpe_core.comparison.costs import MAX_MODEL_WIDTH, MAX_PRICE, MAX_WINDOW, Rates
from bpe_core.errors import ConfigError
from ui.look.labels import escape_markdown
from ui.shell import workspace

PRICE, WIDTH, WINDOW = "price", "width", "window"


class _Field(NamedTuple):
    key: str
    """Also the parameter in the address."""
    label: str
    help: str
    expected: str


_FIELDS = (
    _Field(
        PRICE,
        "Price per million tokens",
        "In any currency: the costs are in the same one.",
        f"a number from 0 to {MAX_PRICE:,}",
    ),
    _Field(
        WIDTH,
        "Model width",
        "The length of the vector that represents a token, also called the hidden size.",
        f"a whole number from 1 to {MAX_MODEL_WIDTH:,}",
    ),
    _Field(
        WINDOW,
        "Context window, in tokens",
        "How many tokens the model reads at once.",
        f"a whole number from 1 to {MAX_WINDOW:,}",
    ),
)


def ask_for_rates() -> Rates:
    """Draw the fields, and return what they hold; an empty or invalid one counts as not known."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for field in _FIELDS:
            st.number_input(
                field.label,
                value=None,
                step=None if field.key == PRICE else 1.0,
                format="%g",
                placeholder="not known",
                key=field.key,
                help=field.help,
                width=230,
                bind="query-params",
            )
    # Below the row, where an error has room.
    return known_rates(on_wrong=lambda words: st.error(escape_markdown(words)))


def known_rates(on_wrong: Callable[[str], object] = lambda _: None) -> Rates:
    """Return what the fields hold, though they may not be drawn; call `on_wrong` for each error."""
    rates = Rates()
    for field in _FIELDS:
        value = workspace.widget_number(field.key)
        if value is None:
            continue
        try:
            rates = rates_with(rates, field.key, float(value))
        except ConfigError:
            on_wrong(f"{field.label}: expected {field.expected}, got {value:,.6g}. It is not used.")
    return rates


def rates_with(known: Rates, key: str, value: float) -> Rates:
    """Return rates with one more; raise ConfigError if no model has it.

    >>> rates_with(Rates(price=2.5), "width", 768.0)
    Rates(price=2.5, model_width=768, context_window=None)
    """
    if key == PRICE:
        return replace(known, price=value)
    if not value.is_integer():
        raise ConfigError(f"Expected a whole number, got {value:.6g}.")
    whole = int(value)
    return replace(known, **{"model_width" if key == WIDTH else "context_window": whole})
