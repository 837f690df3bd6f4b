"""Draw what new tokens gain and cost: figures, curves and a table, for Extend and Replace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.comparison.costs import Usage
from ui.adapt import charts
from ui.adapt.charts import Curve
from ui.adapt.figures import FURTHER, Further, Gain
from ui.adapt.judged import HELD_OUT
from ui.components.chart_pictures import ChartPicture
from ui.components.figures import figure_table
from ui.look.chart_style import CONFIG
from ui.look.glossary import tooltip
from ui.look.labels import file_stem
from ui.run.page_parts import draw_figure, offer_pictures
from ui.shell import frame
from ui.tokenizers.cost_fields import ask_for_rates
from ui.tokenizers.cost_rows import COSTS_SAY, embedding_table_rows, text_rows, window_rows


def draw_gain_figures(domain: Gain, general: Gain, at: int) -> None:
    """Draw what is gained on both texts at entry `at` of the gains, and by further tokens."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        draw_figure(
            domain.title[0].upper() + domain.title[1:],
            *_fewer_or_more(float(domain.fewer[at])),
            width=124,
            help=tooltip("Held-out text") if domain.title == HELD_OUT else None,
        )
        draw_figure("General text", *_fewer_or_more(float(general.fewer[at])), width=124)
        draw_figure(*_further_words(domain.further(at), domain.title), width=124)


def draw_gain_curves(
    domain: Gain, general: Gain, at: int, *, base: str, title: str, entries: NDArray[np.int64]
) -> None:
    """Draw the chosen entries of both gains as curves, with entry `at` marked, and its picture.

    `title` says what was done to which base, and names the file.
    """
    sizes = entries if domain.sizes is None else np.array(domain.sizes, np.int64)[entries]
    changed = "added" if domain.sizes is None else "replaced"
    size = at if domain.sizes is None else domain.sizes[at]
    own = "held out" if domain.title == HELD_OUT else "training"
    curves = [Curve(own, domain.fewer[entries]), Curve("general", general.fewer[entries])]
    st.plotly_chart(
        charts.fewer_tokens(
            sizes,
            curves,
            marked=(size, float(domain.fewer[at])),
            theme=frame.theme_type(),
            counts=f"tokens {changed}",
        ),
        key="fewer_tokens",
        theme=None,
        config=CONFIG,
        alt=f"Fewer tokens than with {base}, in per cent, over the tokens {changed}: at the end "
        f"{domain.fewer[-1]:.1f}% on {domain.title} and {general.fewer[-1]:.1f}% on general text.",
    )
    offer_pictures(
        [
            ChartPicture(
                chart="fewer_tokens",
                button="PNG",
                title=f"Fewer tokens than with {base}, over tokens {changed}",
                what=f"{title}: {domain.title}, and general text “{general.title}”; "
                f"{'cut' if domain.sizes is None else 'marked'} at {size:,} tokens",
                file_name=f"{file_stem(title)}-fewer-tokens.png",
            )
        ],
        key="adapt_pictures",
    )


def draw_gain_costs(
    names: Sequence[str],
    domain: Gain,
    general: Gain,
    entries: Sequence[int],
    heights: Sequence[int],
) -> None:
    """Draw what entries of the gains cost and save, the base's first; `names` head the columns.

    `heights` are the rows of the embedding at each.
    """
    st.subheader("What they cost, and save", anchor=False)
    st.markdown(
        ":small[:gray[Enter your model’s figures: no prices are built in. What you "
        "leave empty is not shown.]]"
    )
    rates = ask_for_rates()
    usages = [
        Usage(int(domain.tokens[entry]), domain.n_bytes, height)
        for entry, height in zip(entries, heights, strict=True)
    ]
    rows = [
        *text_rows(domain.title, [int(domain.tokens[e]) for e in entries], rates, fair=False),
        *text_rows(general.title, [int(general.tokens[e]) for e in entries], rates, fair=False),
        *window_rows(usages, rates, (names[0], usages[0]), fair=False),
        *embedding_table_rows(heights, rates),
    ]
    figure_table(names, rows, caption="What the new tokens cost and save", key="adapt_costs")
    st.markdown(f":small[:gray[{COSTS_SAY}]]")


def _further_words(further: Further, title: str) -> tuple[str, str, str]:
    """Return the name, the number and the unit of what up to 100 further tokens gain."""
    n = further.stop - further.start
    shown = min(n, FURTHER)
    name = f"{'Last' if further.are_last else 'Next'} {shown:,} token{'s' * (shown != 1)}"
    gain = further.gain * shown / n if n else 0.0
    # At sizes far apart, 100 tokens are a share of those between two sizes.
    where = f"on {title}" if n == shown else f"(mean, {further.start:,} to {further.stop:,})"
    return name, f"{abs(gain):.2f}%", f"{'fewer' if gain >= 0 else 'more'} {where}"


def _fewer_or_more(fewer: float) -> tuple[str, str]:
    return f"{abs(fewer):.1f}%", "fewer tokens" if fewer > -0.05 else "more tokens"
