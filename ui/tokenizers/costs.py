"""Ask for a model's price, width and context window, and format costs as rows of a table.

No figure is built in. The rows are for several tokenizers, or for several sizes of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st

from bpe_core.comparison import (
    Costs,
    Rates,
    Usage,
)
from bpe_core.errors import ConfigError
from ui.components import Figure, FigureRow, figure_row
from ui.look import counted, escape_markdown, size_text
from ui.shell import bound, is_number, workspace

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
        f"a number from 0 to {Rates.MAX_PRICE:,}",
    ),
    _Field(
        WIDTH,
        "Model width",
        "The length of the vector that represents a token, also called the hidden size.",
        f"a whole number from 1 to {Rates.MAX_MODEL_WIDTH:,}",
    ),
    _Field(
        WINDOW,
        "Context window, in tokens",
        "How many tokens the model reads at once.",
        f"a whole number from 1 to {Rates.MAX_WINDOW:,}",
    ),
)


def ask_for_rates() -> Rates:
    """Draw the fields, and return what they hold; an empty or invalid one counts as not known."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for field in _FIELDS:
            number = partial(
                st.number_input,
                field.label,
                value=None,
                step=None if field.key == PRICE else 1.0,
                format="%g",
                placeholder="not known",
                help=field.help,
                width=230,
            )
            bound(number, key=field.key, usable=is_number, expected="a number")
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


COSTS_SAY = (
    "Cost: tokens × price ÷ 1,000,000. Tied: one matrix for the input and the output of the model; "
    "untied: one for each."
)
_DECIMALS = 3
_MIN_MONEY = 1e-9


def text_rows(
    where: str, n_tokens: Sequence[int | None], rates: Rates, *, fair: bool
) -> list[FigureRow]:
    """Return rows for the tokens of a text and, with a price, their cost; None where unknown.

    `fair` is False if a tokenizer leaves text out; no figure is then marked as the best.
    """
    rows = [
        figure_row(
            f"Tokens of {where}", [None if n is None else (n, f"{n:,}") for n in n_tokens], 0
        )
    ]
    if rates.price is not None:
        cells = [_price(n, rates) for n in n_tokens]
        rows.append(figure_row(f"Cost of {where}", cells, -1 if fair else 0))
    return rows


def corpus_rows(
    usages: Sequence[Usage | None], n_bytes: int, rates: Rates, *, fair: bool
) -> list[FigureRow]:
    """Return what a corpus of `n_bytes` costs, estimated from the usages of its held-out text.

    A usage is None where the tokenizer leaves text out. There are no rows without a price.
    """
    if rates.price is None:
        return []
    counts = [None if usage is None else usage.estimate_tokens(n_bytes) for usage in usages]
    return [
        figure_row(
            "Cost of the corpus, estimated",
            [_price(n, rates) for n in counts],
            -1 if fair else 0,
            "Tokens of held-out text × bytes of the corpus ÷ bytes of held-out text. A dash: the "
            "tokenizer leaves text out.",
        )
    ]


def window_rows(
    usages: Sequence[Usage | None],
    rates: Rates,
    other: tuple[str, Usage] | None,
    *,
    fair: bool,
) -> list[FigureRow]:
    """Return how much text fills the window, and what that saves against another tokenizer.

    `other` has its name and its usage of the same text. There are no rows without a window.
    """
    if rates.context_window is None:
        return []
    against = None if other is None else other[1]
    costs = [None if usage is None else usage.costs(rates, against) for usage in usages]
    sizes = [None if cost is None else _size(cost) for cost in costs]
    rows = [
        figure_row(
            "Text in a full window",
            sizes,
            1 if fair else 0,
            "How much of this text fills the context window.",
        )
    ]
    if other is not None:
        name = other[0]
        saved = [
            None if cost is None or usage is against else _saved(cost)
            for cost, usage in zip(costs, usages, strict=True)
        ]
        rows.append(
            figure_row(
                f"Window saved against {name}",
                saved,
                0,
                f"Text that fills the window under {name} leaves this share of it free, and this "
                "many tokens; negative if it does not fit.",
            )
        )
    return rows


def embedding_table_rows(embedding_rows: Sequence[int], rates: Rates) -> list[FigureRow]:
    """Return the rows of the embeddings, and their parameters if the width is known."""
    rows = [
        figure_row(
            "Rows of the embedding",
            [(n, f"{n:,}") for n in embedding_rows],
            0,
            "One for each id, up to the highest; ids without a token have rows too.",
        )
    ]
    if rates.model_width is not None:
        costs = [Usage(0, 0, n).costs(rates) for n in embedding_rows]
        tied = [cost.parameters_tied or 0 for cost in costs]
        untied = [cost.parameters_untied or 0 for cost in costs]
        rows += [
            figure_row(
                "Parameters, tied",
                [(n, f"{n:,}") for n in tied],
                0,
                "Rows × model width: one matrix for input and output.",
            ),
            figure_row(
                "Parameters, untied",
                [(n, f"{n:,}") for n in untied],
                0,
                "2 × rows × model width: one matrix for the input, one for the output.",
            ),
        ]
    return rows


def money(amount: float) -> str:
    """Format an amount in any currency, with three digits or more.

    >>> money(0), money(0.0001234), money(0.5), money(12_345.678)
    ('0', '0.000123', '0.500', '12,345.68')
    """
    if not amount:
        return "0"
    if amount < _MIN_MONEY:
        return f"{amount:.3g}"
    if amount >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.{_DECIMALS - 1 - math.floor(math.log10(amount))}f}"


def _price(n_tokens: int | None, rates: Rates) -> Figure | None:
    if n_tokens is None:
        return None
    price = Usage(n_tokens, 0, 0).costs(rates).price or 0.0
    return price, money(price)


def _size(cost: Costs) -> Figure | None:
    size = cost.bytes_in_window
    return None if size is None else (size, size_text(size))


def _saved(cost: Costs) -> Figure | None:
    if cost.window_saved is None or cost.tokens_saved is None:
        return None
    words = f"{cost.window_saved:.1%}, {counted(round(cost.tokens_saved), 'token')}"
    return cost.window_saved, words.replace("-", "−")
