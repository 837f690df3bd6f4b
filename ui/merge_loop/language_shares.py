"""Draw what a parity-aware run did to each language: who picked, what it costs, how evenly."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from bpe_core.trainers import ParityHistory, steps_to_draw
from ui.look import (
    CONFIG,
    PALETTES,
    Theme,
    charts,
    empty_figure,
    escaped,
    file_stem,
    name_rows,
    plain_markdown,
    shorten_end,
)
from ui.run import csv_table, offer_csv
from ui.shell import frame
from ui.storage import StoredRun

_N_BINS = 60
_ROW_HEIGHT = 17
_MAX_NAME = 18
_MAX_LANGUAGES = 100
_COLUMNS = ("language", "before any merge", "plain BPE", "with parity", "merges picked")


def show_languages(stored: StoredRun) -> None:
    """Draw the languages of a parity-aware run; nothing for any other."""
    history = stored.run.parity
    if history is None:
        return
    theme = frame.theme_type()
    with st.container(key="parity"):
        st.header("Which language picked each merge", anchor=False)
        st.markdown(history.sentence())
        st.plotly_chart(picks_ribbon(history, theme), theme=None, config=CONFIG, key="parity_picks")
        st.header("What each language costs", anchor=False)
        lead = "The longest text picks next, so the lines meet."
        if history.plain:
            lead += " Circles: the same text under plain BPE of the same size."
        st.markdown(f":gray[{lead}]")
        st.plotly_chart(
            lengths_chart(history, theme), theme=None, config=CONFIG, key="parity_costs"
        )
        _show_table(stored, history)


def picks_ribbon(history: ParityHistory, theme: Theme) -> go.Figure:
    """Draw a row for each language, darker where it picked more of the merges."""
    colours = PALETTES[theme]
    names, shares, edges = history.picks(_N_BINS)
    names, shares = names[:_MAX_LANGUAGES], shares[:_MAX_LANGUAGES]
    figure = empty_figure(theme, height=80 + _ROW_HEIGHT * len(names))
    figure.add_heatmap(
        x=edges.tolist(),
        y=list(range(len(names))),
        z=np.sqrt(shares).tolist(),
        customdata=shares.tolist(),
        text=[[escaped(name)] * shares.shape[1] for name in names],
        hovertemplate="%{text}: %{customdata:.0%} of the merges near %{x:,.0f}<extra></extra>",
        colorscale=[[0, colours.panel], [1, colours.primary]],
        zmin=0,
        zmax=float(np.sqrt(shares).max(initial=0)) or 1,
        showscale=False,
        ygap=1,
    )
    shown = [shorten_end(name, _MAX_NAME) for name in names]
    name_rows(figure, shown, {"color": colours.text})
    charts.merges_axis(figure, int(edges[-1]))
    return figure


def lengths_chart(history: ParityHistory, theme: Theme) -> go.Figure:
    """Draw each language's tokens over the merges; two are named, the longest and the shortest."""
    colours = PALETTES[theme]
    lengths, n_merges = history.lengths, history.lengths.shape[1] - 1
    steps = steps_to_draw(n_merges, 200)
    figure = empty_figure(theme, height=320)
    longest, shortest = int(lengths[:, 0].argmax()), int(lengths[:, 0].argmin())
    named = {longest: colours.other, shortest: colours.primary}
    order = sorted(range(len(lengths)), key=lambda number: number in named)
    for number in order:
        name, tokens = escaped(history.languages[number]), lengths[number][steps]
        figure.add_scatter(
            x=steps.tolist(),
            y=tokens.tolist(),
            mode="lines",
            line={"width": 2.5 if number in named else 1, "color": named.get(number, colours.bar)},
            hovertemplate=f"{name}: %{{y:,}} tokens after %{{x:,}} merges<extra></extra>",
        )
    if history.plain:
        figure.add_scatter(
            x=[n_merges] * len(order),
            y=[history.plain[number] for number in order],
            text=[escaped(history.languages[number]) for number in order],
            mode="markers",
            marker={
                "size": 7,
                "symbol": "circle-open",
                "color": [named.get(number, colours.muted) for number in order],
            },
            cliponaxis=False,
            hovertemplate="%{text}: %{y:,} tokens under plain BPE<extra></extra>",
        )
    charts.tokens_axis(figure, int(lengths.max(initial=1)))
    charts.label_ends(
        figure,
        [
            (
                shorten_end(history.languages[number], 12),
                float(lengths[number, -1]),
                colour,
            )
            for number, colour in named.items()
        ],
    )
    charts.merges_axis(figure, n_merges)
    charts.name_value_axis(figure, "tokens of each text", theme)
    return figure


def _show_table(stored: StoredRun, history: ParityHistory) -> None:
    rows = history.rows()
    with st.expander("Each language in figures", type="compact"):
        lines = [_COLUMNS, ("---", *["--:"] * (len(_COLUMNS) - 1))]
        lines += [
            (plain_markdown(name), *("–" if each is None else f"{each:,}" for each in figures))
            for name, *figures in rows
        ]
        st.markdown("\n".join("| " + " | ".join(line) + " |" for line in lines))
        offer_csv(
            lambda: csv_table(_COLUMNS, rows),
            f"{file_stem(stored.title)}-languages.csv",
            key="parity_csv",
        )
        if not history.has_development:
            st.markdown(
                ":gray[:small[Measured on the training text. Equal numbers of tokens are fair only "
                "where the texts say the same.]]"
            )
