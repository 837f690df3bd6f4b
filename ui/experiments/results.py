"""Draw the answer of an experiment, its charts, its table, and the button that opens a row."""

from __future__ import annotations

import math
from typing import Any, Final

import plotly.graph_objects as go
import streamlit as st

from bpe_core.experiments import Experiment
from ui.components import verdict
from ui.experiments.work import Measured
from ui.look import (
    CONFIG,
    CURVE_WIDTH,
    PALETTES,
    Theme,
    counted,
    empty_figure,
    escaped,
    label_ends,
    name_base_axis,
    name_value_axis,
    plain_markdown,
    plain_text,
    set_axis,
    value_axis,
)
from ui.shell import frame
from ui.storage import is_stored

_HEIGHT: Final = 320
_TICKS_APART: Final = 0.1
"""How far two named sizes are apart at least, as a share of the axis, so that their names fit."""
_COLUMNS: Final = {
    "tokenizer": ("Tokenizer", None, ""),
    "vocab_size": ("Vocabulary", "localized", "The number of tokens, including special ones."),
    "bytes_per_token": ("Bytes per token", "%.3f", "On the held-out text. Higher is better."),
    "bytes_lost": (
        "Bytes lost",
        "localized",
        "Bytes of the held-out text that are in no token, because their characters or bytes are "
        "not in the alphabet.",
    ),
    "percent_fewer": (
        "Fewer tokens, %",
        "%.1f",
        "How much less than the first row it needs on the held-out text.",
    ),
    "bits_per_byte": (
        "Bits per byte",
        "%.3f",
        "How hard the text is to predict for a small model that reads these tokens. Lower is "
        "better.",
    ),
    "renyi_efficiency": (
        "Rényi efficiency",
        "%.3f",
        "How evenly the vocabulary is used, from 0 to 1, at order 2.5.",
    ),
    "n_dead": ("Dead tokens", "localized", "Tokens that encoding the training text never uses."),
    "mean_parity": (
        "Parity",
        "%.2f",
        "How many times the tokens of English other languages need for the same sentences, on "
        "average. Empty for a tokenizer that cannot spell them all.",
    ),
    "gini": (
        "Gini",
        "%.3f",
        "How unequally tokens are spread over languages: 0 if all need the same number.",
    ),
    "shared_training_seconds": (
        "Shared training, s",
        "%.2f",
        "All sizes of one cut are taken from one training, at the largest. This is its time.",
    ),
}
"""The name of each column, the format of its numbers, and what it means."""


def draw_results(measured: Measured) -> None:
    """Draw what an experiment found."""
    found = measured.found
    against = plain_text(found.rows[found.against].name)
    fewest = found.rows[found.frontier[-1]]
    verdict(
        [(found.answer, True)],
        f"Measured on one held-out text that no training saw; savings are against {against}. "
        f"The fewest bits per byte are {fewest.figures['bits_per_byte']:.3f}, with "
        f"{plain_text(fewest.name)}. They are those of a small model of three tokens: an upper "
        "bound, and not what a transformer makes of a text.",
        key="experiment_answer",
    )
    savings, bits = st.columns(2, gap="large")
    theme = frame.theme_type()
    with savings:
        st.header("What size saves", anchor=False)
        has_intervals = any(line["percent_fewer_low"] is not None for line in found.table)
        st.markdown(
            ":gray[:small[The marks above and below a point are its 95% interval.]]"
            if has_intervals
            else ":gray[:small[There are too few documents for intervals.]]"
        )
        st.plotly_chart(
            draw_savings(found, theme),
            key="experiment_savings",
            theme=None,
            config=CONFIG,
            alt=f"Tokens saved against {against}, in per cent, over the size of the vocabulary.",
        )
    with bits:
        st.header("Size and bits per byte", anchor=False)
        st.markdown(
            ":gray[:small[The line joins the tokenizers that no other beats in both. The rest are "
            "grey.]]"
        )
        st.plotly_chart(
            draw_frontier(found, theme),
            key="experiment_frontier",
            theme=None,
            config=CONFIG,
            alt="Bits per byte over the size of the vocabulary; the line joins the rows that no "
            "other beats in both.",
        )
    names = {column: name for column, (name, _, _) in _COLUMNS.items()}
    st.dataframe(  # pyright: ignore[reportUnknownMemberType]
        found.to_frame()[list(_COLUMNS)].rename(columns=names),
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(name, format=form, help=meaning)
            for name, form, meaning in _COLUMNS.values()
            if form
        },
        key="experiment_table",
    )
    if found.refused:
        with st.expander(f"{counted(len(found.refused), 'tokenizer')} could not be trained"):
            for sentence in found.refusals:
                st.markdown(plain_markdown(sentence, 600))
    _offer_rows(measured)


def _offer_rows(measured: Measured) -> None:
    found, names = measured.found, [row.name for row in measured.found.rows]
    with st.container(horizontal=True, vertical_alignment="bottom", key="experiment_rows"):
        place = st.selectbox(
            "Tokenizer",
            range(len(names)),
            index=found.recommended,
            format_func=names.__getitem__,
            key="experiment_row",
            width=280,
        )
        run_id = measured.run_ids.get(names[place])
        if run_id is None or not is_stored(run_id):
            st.markdown(
                ":gray[The run of this tokenizer was deleted. To train it again, press “Measure”.]",
                width="content",
            )
        elif st.button("Open its run", key="experiment_open"):
            st.switch_page("pages/merge_loop.py", query_params={"run": run_id})
    with st.container(horizontal=True, key="experiment_files"):
        for name, data, kind in (
            ("table.csv", found.to_csv(), "text/csv"),
            ("table.json", found.to_json(), "application/json"),
            ("table.tex", found.to_latex(), "text/plain"),
            ("experiment.toml", found.to_toml(), "text/plain"),
        ):
            st.download_button(name, data, name, kind, key=f"experiment_{name}")


def draw_savings(found: Experiment, theme: Theme) -> go.Figure:
    """Draw the tokens that each row saves over its size, with intervals, a line for each family."""
    figure = empty_figure(theme, height=_HEIGHT)
    colours = PALETTES[theme].series
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row, line in zip(found.rows, found.table, strict=True):
        families.setdefault(row.family, []).append(line)
    ends: list[tuple[str, float, str]] = []
    for number, lines in enumerate(families.values()):
        lines.sort(key=lambda line: line["vocab_size"])
        colour = colours[number % len(colours)]
        low, high = (
            [
                abs((line[f"percent_fewer_{end}"] or line["percent_fewer"]) - line["percent_fewer"])
                for line in lines
            ]
            for end in ("low", "high")
        )
        name = escaped(plain_text(lines[-1]["tokenizer"].rpartition(", ")[0])) or "all"
        figure.add_scatter(
            x=[line["vocab_size"] for line in lines],
            y=[line["percent_fewer"] for line in lines],
            mode="lines+markers",
            name=name,
            line={"width": CURVE_WIDTH, "color": colour},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": high,
                "arrayminus": low,
                "color": colour,
            },
            hovertemplate=f"{name}: %{{x:,}} tokens save %{{y:.2f}} %<extra></extra>",
        )
        ends.append((name, float(lines[-1]["percent_fewer"]), colour))
    _size_axis(figure, found)
    heights = [
        value
        for line in found.table
        for end in ("", "_low", "_high")
        if (value := line[f"percent_fewer{end}"]) is not None
    ]
    _value_axis(figure, heights)
    name_value_axis(figure, "fewer tokens, %", theme)
    if len(ends) > 1:
        label_ends(figure, ends)
    return figure


def draw_frontier(found: Experiment, theme: Theme) -> go.Figure:
    """Draw bits per byte over size: all rows, and the line of those that no other beats."""
    palette = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    names = [escaped(plain_text(row.name)) for row in found.rows]
    figure.add_scatter(
        x=[row.figures["vocab_size"] for row in found.rows],
        y=[row.figures["bits_per_byte"] for row in found.rows],
        mode="markers",
        marker={"color": palette.bar, "size": 9},
        text=names,
        hovertemplate="%{text}: %{y:.3f} bits per byte<extra></extra>",
    )
    on_it = [found.rows[place].figures for place in found.frontier]
    figure.add_scatter(
        x=[row["vocab_size"] for row in on_it],
        y=[row["bits_per_byte"] for row in on_it],
        mode="lines+markers",
        line={"width": CURVE_WIDTH, "color": palette.primary},
        marker={"color": palette.primary, "size": 9},
        text=[names[place] for place in found.frontier],
        hovertemplate="%{text}: %{y:.3f} bits per byte, on the frontier<extra></extra>",
    )
    _size_axis(figure, found)
    _value_axis(figure, [row.figures["bits_per_byte"] for row in found.rows])
    name_value_axis(figure, "bits per byte", theme)
    return figure


def _value_axis(figure: go.Figure, heights: list[float]) -> None:
    low, high = min(heights), max(heights)
    room = (high - low) * 0.08 or 0.1
    value_axis(figure, "y", low - room, high + room)


def _size_axis(figure: go.Figure, found: Experiment) -> None:
    sizes = sorted({row.figures["vocab_size"] for row in found.rows})
    apart = _TICKS_APART * math.log(sizes[-1] / sizes[0])
    shown: list[int] = []
    for size in sizes:
        if not shown or math.log(size / shown[-1]) >= apart:
            shown.append(size)
    set_axis(
        figure,
        "x",
        type="log",
        tickvals=shown,
        ticktext=[f"{size:,}" for size in shown],
        autotickangles=[0, 45, 90],
    )
    name_base_axis(figure, "tokens in the vocabulary")
