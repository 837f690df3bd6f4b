"""Draw what new tokens gain and cost, for Extend and Replace: figures, curves and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.adapting import KindGain
from bpe_core.comparison import Usage
from bpe_core.corpus import Corpus
from ui.adapt.figures import FURTHER, Further, Gain
from ui.adapt.swapped import HELD_OUT, general_titles
from ui.components import ChartPicture, FigureRow, figure_table
from ui.corpus import text_field
from ui.look import (
    CONFIG,
    CURVE_WIDTH,
    PALETTES,
    Mark,
    Theme,
    counted,
    empty_figure,
    file_stem,
    label_ends,
    mark_step,
    merges_axis,
    name_value_axis,
    share_text,
    tooltip,
    value_axis,
)
from ui.run import draw_figure, offer_pictures
from ui.shell import frame
from ui.tokenizers import COSTS_SAY, ask_for_rates, embedding_table_rows, text_rows, window_rows

_HEIGHT = 292
_OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here that is outside your domain."
_MIN_TOP = 1.0
"""In per cent: a text that gains nothing is a line at the bottom, not magnified noise."""


class Curve(NamedTuple):
    """A curve with its label."""

    name: str
    values: NDArray[np.float64]
    """float64[n]: one value per step."""


def fewer_tokens(
    steps: NDArray[np.int64],
    curves: Sequence[Curve],
    *,
    marked: Mark | None,
    theme: Theme,
    counts: str = "tokens added",
) -> go.Figure:
    """Draw the percentage of tokens that texts save, over the `counts`.

    The first curve is solid, the second dashed.
    """
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    looks = [(colours.primary, "solid"), (colours.other, "5px,3px")]
    for curve, (colour, dash) in reversed(list(zip(curves, looks, strict=False))):
        figure.add_scatter(
            x=steps.tolist(),
            y=curve.values.tolist(),
            mode="lines",
            name=curve.name,
            line={"width": CURVE_WIDTH, "color": colour, "dash": dash},
            hovertemplate=f"{curve.name} %{{y:.1f}}% fewer tokens<extra></extra>",
        )
    top = max(_MIN_TOP, *(float(curve.values.max()) for curve in curves)) * 1.04
    low = min(0.0, *(float(curve.values.min()) for curve in curves)) * 1.04
    value_axis(figure, "y", low, top)
    ends = [
        (f"{curve.name} {curve.values[-1]:z.2f}", float(curve.values[-1]), colour)
        for curve, (colour, _) in zip(curves, looks, strict=False)
    ]
    label_ends(figure, ends)
    merges_axis(figure, int(steps[-1]), counts=counts)
    name_value_axis(figure, "fewer tokens than the base, in %", theme)
    mark_step(figure, marked, theme)
    figure.layout.hovermode = "x"
    return figure


def tokens_over_removals(
    steps: NDArray[np.int64], curve: Curve, *, marked: Mark | None, theme: Theme
) -> go.Figure:
    """Draw the percentage of tokens that a text takes more, over the tokens removed."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    figure.add_scatter(
        x=steps.tolist(),
        y=curve.values.tolist(),
        mode="lines",
        name=curve.name,
        line={"width": CURVE_WIDTH, "color": colours.primary},
        hovertemplate=f"{curve.name} %{{y:.1f}}% more tokens<extra></extra>",
    )
    value_axis(figure, "y", 0, max(_MIN_TOP, float(curve.values.max())) * 1.04)
    merges_axis(figure, int(steps[-1]), counts="tokens removed")
    name_value_axis(figure, "more tokens, in %", theme)
    mark_step(figure, marked, theme)
    figure.layout.hovermode = "x"
    return figure


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
        fewer_tokens(
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
                f"{'cut' if domain.sizes is None else 'marked'} at {counted(size, 'token')}",
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
    name = f"{'Last' if further.are_last else 'Next'} {counted(shown, 'token')}"
    gain = further.gain * shown / n if n else 0.0
    # At sizes far apart, 100 tokens are a share of those between two sizes.
    where = f"on {title}" if n == shown else f"(mean, {further.start:,} to {further.stop:,})"
    return name, f"{abs(gain):.2f}%", f"{'fewer' if gain >= 0 else 'more'} {where}"


def _fewer_or_more(fewer: float) -> tuple[str, str]:
    return f"{abs(fewer):.1f}%", "fewer tokens" if fewer > -0.05 else "more tokens"


def choose_general(
    usual: str, on_sample: Callable[[str], Gain], on_text: Callable[[Corpus], Gain], *, key: str
) -> Gain:
    """Draw the choice, which begins with the sample `usual`; return what is gained on it."""
    titles = {**general_titles(), _OWN_TEXT: _OWN_TEXT}
    picked = st.selectbox(
        "General text",
        [usual, *(id for id in titles if id != usual)],
        format_func=titles.__getitem__,
        key=f"{key}_general_{usual}",
        help="A text outside your domain: what the base already does well should not get worse.",
    )
    if picked != _OWN_TEXT:
        return on_sample(picked)
    text = text_field(_FIRST_TEXT, key=f"{key}_text")
    return on_text(Corpus.from_text(text)) if text else on_sample(usual)


def draw_kind_gains(
    gains: Sequence[KindGain], where: str, removed: tuple[int, int] | None = None
) -> None:
    """Draw a table of the kinds of new tokens, with what each saves on a text.

    `removed` are the number of removed tokens and how many tokens that costs.
    """
    total = sum(gain.saved for gain in gains)
    rows = [
        FigureRow(
            gain.kind[0].upper() + gain.kind[1:],
            (
                f"{gain.n_tokens:,}",
                f"{gain.saved:,}",
                share_text(gain.saved, total) if total else "–",
            ),
        )
        for gain in gains
    ]
    if removed is not None:
        n, more = removed
        rows.append(FigureRow("Removed tokens", (f"−{n:,}", f"{-more:,}".replace("-", "−"), "–")))
    st.subheader("What is gained, by kind", anchor=False)
    figure_table(
        ["New tokens", "Tokens saved", "Share"],
        rows,
        caption=f"Tokens saved on {where}, by the kind of the new tokens",
        key="adapt_kinds",
    )
    st.markdown(
        f":small[:gray[On {where}. A new token with a letter counts as a word, whatever else it "
        "holds.]]"
    )
