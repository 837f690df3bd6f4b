"""Ask for a model's price, width and context window, on any page; no figure is built in."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from bpe_core.comparison.costs import MAX_MODEL_WIDTH, MAX_PRICE, MAX_WINDOW, Rates
from bpe_core.errors import ConfigError
from ui.look.labels import escape_markdown

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
    found: dict[str, Rates] = {}
    typed: list[tuple[_Field, float]] = []
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for field in _FIELDS:
            value = st.number_input(
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
            if value is not None:
                typed.append((field, float(value)))
    # Below the row, where an error has room.
    for field, value in typed:
        found[field.key] = _checked(field, value)
    unknown = Rates()
    return Rates(
        price=found.get(PRICE, unknown).price,
        model_width=found.get(WIDTH, unknown).model_width,
        context_window=found.get(WINDOW, unknown).context_window,
    )


def _checked(field: _Field, value: float) -> Rates:
    """Return the rates with this figure alone; with none, and an error, if it is invalid."""
    try:
        return rates_with(field.key, value)
    except ConfigError:
        wrong = f"{field.label}: expected {field.expected}, got {value:,.6g}. It is not used."
        st.error(escape_markdown(wrong))
        return Rates()


def rates_with(key: str, value: float) -> Rates:
    """Return rates of which one is known; raise ConfigError if no model has it.

    >>> rates_with("width", 768.0)
    Rates(price=None, model_width=768, context_window=None)
    """
    if key == PRICE:
        return Rates(price=value)
    if not value.is_integer():
        raise ConfigError(f"Expected a whole number, got {value:.6g}.")
    whole = int(value)
    return Rates(model_width=whole) if key == WIDTH else Rates(context_window=whole)
