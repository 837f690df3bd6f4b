"""Show the pairs before one merge, and the whole run: bars, heat map, curves and tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.types import Pair
from ui.components import ChartPicture
from ui.look import (
    BAR_PITCH,
    CONFIG,
    CURVE_WIDTH,
    MONO,
    NARROWEST,
    PALETTES,
    Theme,
    charts,
    columns,
    counted,
    counts_axis,
    empty_figure,
    escaped,
    file_stem,
    label_right,
    name_base_axis,
    name_rows,
    name_value_axis,
    ranks_axis,
    set_axis,
    shorten_end,
    shorten_start,
    token_label,
    tooltip,
)
from ui.pair_frequencies.pair_life import (
    PAIRS_CSV_SAYS,
    RUN_CSV_SAYS,
    choose_pair,
    moment,
    pair_rows,
    pairs_csv,
    run_csv,
)
from ui.run import draw_title, first_step, keep_step, offer_csv, offer_pictures, run_figures
from ui.shell import frame, show_unread, workspace
from ui.storage import StoredRun

_SYMBOL_SIZE = 14
_MAX_PAIR_LENGTH = 14
_MAX_SYMBOL_LENGTH = 7


def top_pair_bars(
    pairs: Sequence[tuple[str, str]],
    counts: Sequence[int],
    tied: Sequence[bool],
    *,
    chosen: bool = True,
    theme: Theme,
) -> go.Figure:
    """Draw the most frequent pairs as bars: the winner first and filled, its ties outlined.

    After the last merge no pair is `chosen`, and all bars look alike. `pairs` are labels of the
    left and right tokens, drawn as text even if they spell markup.
    """
    colours = PALETTES[theme]
    n = len(pairs)
    marks = ["tie" if chosen and is_tied and place else "" for place, is_tied in enumerate(tied)]
    figure = empty_figure(theme, height=n * BAR_PITCH + 12, right=8, top=4, bottom=8)
    fills = [colours.bar if not (chosen and is_tied) else "rgba(0,0,0,0)" for is_tied in tied]
    edges = [colours.chosen if chosen and is_tied else colours.bar for is_tied in tied]
    if chosen and n:
        fills[0] = edges[0] = colours.chosen
    figure.add_bar(
        x=list(counts),
        y=list(range(n)),
        orientation="h",
        marker={
            "color": fills,
            "line": {"color": edges, "width": 1.75},
            "cornerradius": 2,
        },
        customdata=[f"{escaped(left)} + {escaped(right)}" for left, right in pairs],
        hovertemplate="%{customdata}: %{x:,}<extra></extra>",
        # A click selects a bar; the other bars must not fade.
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    set_axis(figure, "x", visible=False, range=[0, max(counts, default=1)])
    font = {"family": MONO, "size": _SYMBOL_SIZE, "color": colours.text}
    name_rows(figure, [_pair_label(left, right) for left, right in pairs], font)
    figures = [
        f"{count:,}" + (f"  <span style='color:{colours.chosen}'>{mark}</span>" if mark else "")
        for count, mark in zip(counts, marks, strict=True)
    ]
    label_right(figure, list(range(n)), figures, colours.text)
    return figure


def pair_heat_map(
    left: Sequence[str],
    right: Sequence[str],
    counts: NDArray[np.int64],
    *,
    outlined: tuple[int, int] | None = None,
    framed: tuple[int, int] | None = None,
    theme: Theme,
) -> go.Figure:
    """Draw counts of left by right symbols as colours, on a square-root scale.

    `counts` is int64[len(left), len(right)]; `outlined` is the row and column of the next merge,
    `framed` those of the selected pair. Cell n, counted row by row, is point n of the second trace,
    because cells of a heat map cannot be selected.
    """
    colours = PALETTES[theme]
    longest = min(max(map(columns, right), default=0), _MAX_SYMBOL_LENGTH)
    upright = longest > 2
    top = 14 + 9 * longest if upright else 28
    rows = [f"{shorten_start(label, _MAX_SYMBOL_LENGTH)} " for label in left]
    height = len(left) * BAR_PITCH + top + 8
    figure = empty_figure(theme, height=height, right=4, top=top, bottom=8)
    figure.add_heatmap(
        z=np.sqrt(counts).tolist(),
        zmin=0,
        colorscale=[[0, colours.panel], [1, colours.primary]],
        showscale=False,
        xgap=3,
        ygap=3,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[column for _ in left for column in range(len(right))],
        y=[row for row in range(len(left)) for _ in right],
        customdata=[
            f"{escaped(a)} + {escaped(b)}: {counted(count, 'time')}"
            for a, row in zip(left, counts.tolist(), strict=True)
            for b, count in zip(right, row, strict=True)
        ],
        mode="markers",
        marker={"symbol": "square", "size": 24, "opacity": 0},
        hovertemplate="%{customdata}<extra></extra>",
    )
    font = {"family": MONO, "size": _SYMBOL_SIZE, "color": colours.text}
    set_axis(
        figure,
        "x",
        side="top",
        tickvals=list(range(len(right))),
        ticktext=[shorten_end(label, _MAX_SYMBOL_LENGTH) for label in right],
        tickfont=font,
        tickangle=-90 if upright else 0,
        range=[-0.5, len(right) - 0.5],
    )
    name_rows(figure, rows, font)
    if framed != outlined:
        _frame_cell(figure, framed, colours.text)
    _frame_cell(figure, outlined, colours.chosen)
    return figure


def _frame_cell(figure: go.Figure, cell: tuple[int, int] | None, colour: str) -> None:
    if cell is None:
        return
    row, column = cell
    figure.add_shape(
        type="rect",
        x0=column - 0.5,
        x1=column + 0.5,
        y0=row - 0.5,
        y1=row + 0.5,
        line={"color": colour, "width": 3},
    )


def rank_frequency_curve(
    ranks: NDArray[np.int64], counts: NDArray[np.int64], *, chosen: bool = True, theme: Theme
) -> go.Figure:
    """Draw counts of pairs over their ranks on logarithmic axes; the `chosen` pair is marked."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=296, top=36)
    figure.add_scatter(
        x=ranks.tolist(),
        y=counts.tolist(),
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.primary},
        hovertemplate="rank: %{x:,}<br>times: %{y:,}<extra></extra>",
    )
    if chosen:
        figure.add_scatter(
            x=ranks[:1].tolist(),
            y=counts[:1].tolist(),
            mode="markers",
            marker={"size": 10, "color": colours.chosen},
            cliponaxis=False,
            hoverinfo="skip",
        )
    counts_axis(figure, int(counts[0]) if len(counts) else 1)
    ranks_axis(figure, int(ranks[-1]) if len(ranks) else 1)
    name_value_axis(figure, "count", theme)
    name_base_axis(figure, "rank of the pair")
    return figure


def _pair_label(left: str, right: str) -> str:
    right_room = max(_MAX_PAIR_LENGTH // 2, _MAX_PAIR_LENGTH - columns(left))
    left_room = max(_MAX_PAIR_LENGTH // 2, _MAX_PAIR_LENGTH - columns(right))
    return f"{shorten_start(left, left_room)} + {shorten_end(right, right_room)} "


_RANKS = "rank_frequency"


def choose_step(stored: StoredRun) -> int:
    """Draw the heading with its slider and number field; return the step they choose."""
    n_merges = len(stored.run.merges)
    slider, number = f"merge_slider_{stored.id}", f"merge_number_{stored.id}"
    step = workspace.start_widget(slider, first_step(stored) + 1) - 1
    workspace.start_widget(number, step + 1)
    keep_step(stored, step)
    show_unread("step", step)
    with st.container(horizontal=True, vertical_alignment="center", key="pairs_heading"):
        st.header(f"The pairs {moment(step, n_merges)}", anchor=False, width="content")
        st.space("stretch")
        if n_merges:
            tie = workspace.copy_widget
            with st.container(horizontal=True, vertical_alignment="center", width=430):
                st.markdown(":small[Merge]", width="content")
                st.slider(
                    "Merge, by slider",
                    1,
                    n_merges + 1,
                    key=slider,
                    label_visibility="collapsed",
                    on_change=tie,
                    args=(slider, number),
                )
                st.number_input(
                    "Merge, by number",
                    1,
                    n_merges + 1,
                    key=number,
                    label_visibility="collapsed",
                    width=120,
                    on_change=tie,
                    args=(number, slider),
                )
    return step


def draw_pictures(stored: StoredRun, picture: run_figures.PairPicture, pair: Pair | None) -> None:
    """Draw the pairs of a step; `pair` is the one whose life is shown below."""
    # Columns would stay side by side on a tablet, too narrow for the labels.
    pictures = st.grid(3, min_column_width=NARROWEST, gap="large")
    with pictures.cell():
        bars_key = _draw_bars(stored, picture)
    with pictures.cell():
        matrix_key = _draw_matrix(stored, picture, pair)
    with pictures.cell():
        _draw_ranks(stored, picture)
    when = moment(picture.step, len(stored.run.merges))
    stem = f"{file_stem(stored.title)}-pairs-{file_stem(when)}"
    n_pairs = counted(picture.curve.n_pairs, "pair")
    files = [
        ChartPicture(key, f"PNG: {name}", f"{title} {when}", what, f"{stem}-{name}.png")
        for key, name, title, what in (
            (bars_key, "bars", "The most frequent pairs", stored.title),
            (matrix_key, "matrix", "Left symbol × right symbol", stored.title),
            (_RANKS, "ranks", "Rank and frequency", f"{stored.title}, {n_pairs}"),
        )
    ]
    _draw_table(stored, picture, f"{stem}.csv", files)


def _draw_bars(stored: StoredRun, picture: run_figures.PairPicture) -> str:
    vocab, top = stored.run.tokenizer.vocab, picture.top[: run_figures.N_TOP_PAIRS]
    draw_title("Most frequent", "Click a bar to open its merge.", help=tooltip("Tie"))
    event = st.plotly_chart(
        top_pair_bars(
            [(token_label(vocab[pair.left]), token_label(vocab[pair.right])) for pair in top],
            [pair.count for pair in top],
            [pair.tied for pair in top],
            chosen=picture.step < len(stored.run.merges),
            theme=frame.theme_type(),
        ),
        key=(key := f"top_pairs_{stored.id}_{picture.step}"),
        on_select=partial(_choose_place, key, picture),
        selection_mode="points",
        theme=None,
        config=CONFIG,
        alt=f"The {len(top)} most frequent pairs; the first occurs "
        f"{counted(top[0].count, 'time')}.",
    )
    if event.selection.point_indices:
        _open_merge(stored, picture, event.selection.point_indices[0])
    return key


def _draw_matrix(stored: StoredRun, picture: run_figures.PairPicture, pair: Pair | None) -> str:
    vocab, matrix = stored.run.tokenizer.vocab, picture.matrix
    ends = picture.step == len(stored.run.merges)
    draw_title(
        "Left symbol × right symbol",
        "Stronger is more frequent. Click a cell for its pair’s life.",
    )
    st.plotly_chart(
        pair_heat_map(
            [token_label(vocab[symbol]) for symbol in matrix.left],
            [token_label(vocab[symbol]) for symbol in matrix.right],
            matrix.counts,
            outlined=None if ends else picture.next_cell,
            framed=None if pair is None else matrix.find_cell(pair),
            theme=frame.theme_type(),
        ),
        key=(key := f"pair_matrix_{stored.id}_{picture.step}"),
        on_select=partial(_choose_cell, key, picture),
        selection_mode="points",
        theme=None,
        config=CONFIG,
        alt="Counts of the most frequent left symbols by the most frequent right symbols.",
    )
    return key


def _draw_ranks(stored: StoredRun, picture: run_figures.PairPicture) -> None:
    curve = picture.curve
    pairs = counted(curve.n_pairs, "pair")
    draw_title("Rank and frequency", f"{pairs}; {curve.n_once:,} of them once.")
    st.plotly_chart(
        rank_frequency_curve(
            curve.ranks,
            curve.counts,
            # A pair that is merged for a term may rank lower.
            chosen=picture.step < len(stored.run.merges)
            and picture.top[0].count == int(curve.counts[0]),
            theme=frame.theme_type(),
        ),
        key=_RANKS,
        theme=None,
        config=CONFIG,
        alt=f"Counts of all {pairs} by rank, from {curve.counts[0]:,} "
        f"down to {curve.counts[-1]:,}.",
    )


def _draw_table(
    stored: StoredRun, picture: run_figures.PairPicture, csv_name: str, pictures: list[ChartPicture]
) -> None:
    vocab = stored.run.tokenizer.vocab
    with st.container(horizontal=True, vertical_alignment="center"):
        as_table = st.toggle("Show as table", key="as_table")
        offer_csv(
            lambda: pairs_csv(*run_figures.all_pairs(stored.id, picture.step)),
            csv_name,
            key="pairs_csv",
            help=PAIRS_CSV_SAYS,
        )
        offer_pictures(pictures, key="step_pictures")
    if as_table:
        shown = len(picture.top)
        if shown < picture.curve.n_pairs:
            st.markdown(
                f":small[:gray[The first {shown:,} of {counted(picture.curve.n_pairs, 'pair')}.]]"
            )
        st.markdown(":small[:gray[Select a row to see its pair’s life.]]")
        key = f"pair_table_{stored.id}_{picture.step}"
        st.dataframe(  # pyright: ignore[reportUnknownMemberType]
            pair_rows(picture.top, vocab, picture.merged_at),
            key=key,
            height=420,
            on_select=partial(_choose_row, key, picture),
            selection_mode="single-row",
        )


def _choose_place(key: str, picture: run_figures.PairPicture) -> None:
    for place in workspace.selected_points(key):
        left, right, _ = picture.top[place]
        choose_pair((left, right))


def _choose_row(key: str, picture: run_figures.PairPicture) -> None:
    for place in workspace.selected_rows(key):
        left, right, _ = picture.top[place]
        choose_pair((left, right))


def _choose_cell(key: str, picture: run_figures.PairPicture) -> None:
    matrix = picture.matrix
    for place in workspace.selected_points(key):
        row, column = divmod(place, len(matrix.right))
        choose_pair((matrix.left[row], matrix.right[column]))


def _open_merge(stored: StoredRun, picture: run_figures.PairPicture, place: int) -> None:
    pair = picture.top[place]
    rank = picture.merged_at.get((pair.left, pair.right))
    if rank is None:
        st.info(
            "This pair never merges in this run: other merges use up its symbols first. See below."
        )
    else:
        st.switch_page("pages/merge_loop.py", query_params={"run": stored.id, "step": str(rank)})


def draw_whole_run(stored: StoredRun, step: int) -> None:
    """Draw two curves over all merges, with `step` marked on them."""
    curves, theme = run_figures.run_curves(stored.id), frame.theme_type()
    tokens, n_merges = stored.run.tokens_after, len(stored.run.merges)
    st.header("Over the whole run", anchor=False)
    winners, lengths = st.columns(2, gap="large")
    with winners:
        draw_title("The winning pair", "How often the pair occurs that each merge joins.")
        st.plotly_chart(
            charts.winner_counts_curve(
                curves.drawn_winners,
                curves.winner_counts[curves.drawn_winners],
                n_merges=n_merges,
                marked=(step, float(curves.winner_counts[step])) if step < n_merges else None,
                theme=theme,
            ),
            key="winner_counts",
            theme=None,
            config=CONFIG,
            alt="Count of the winning pair over merges.",
        )
    with lengths:
        bend = curves.elbow
        draw_title(
            "The corpus",
            "Each merge shortens it by the number of occurrences it joins."
            if bend is None
            else f"Elbow at {counted(bend, 'merge')}: furthest from the straight line between the "
            "ends.",
        )
        st.plotly_chart(
            charts.tokens_over_merges(
                tokens[curves.drawn],
                merges=curves.drawn,
                marked=(step, float(tokens[step])),
                bend=None if bend is None else (bend, float(tokens[bend])),
                theme=theme,
            ),
            key="corpus_tokens",
            theme=None,
            config=CONFIG,
            alt=f"Tokens in the corpus over merges, from {tokens[0]:,} to {tokens[-1]:,}.",
        )
    stem = f"{file_stem(stored.title)}-run"
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_csv(lambda: run_csv(curves, tokens), f"{stem}.csv", key="run_csv", help=RUN_CSV_SAYS)
        offer_pictures(
            [
                ChartPicture(
                    "winner_counts",
                    "PNG: winners",
                    "The count of the winning pair",
                    stored.title,
                    f"{stem}-winners.png",
                ),
                ChartPicture(
                    "corpus_tokens",
                    "PNG: corpus",
                    "Tokens in the corpus",
                    stored.title,
                    f"{stem}-corpus.png",
                ),
            ],
            key="run_pictures",
        )
