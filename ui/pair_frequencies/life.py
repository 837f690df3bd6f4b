"""Show one pair's life: its count and its rank after each merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.runs import times
from bpe_core.types import Pair
from ui.components import ChartPicture
from ui.look import (
    CONFIG,
    CURVE_WIDTH,
    PALETTES,
    Mark,
    Theme,
    counted,
    counts_axis,
    empty_figure,
    file_stem,
    mark_step,
    merges_axis,
    name_value_axis,
    plain_markdown,
    set_axis,
    token_label,
    tokens_axis,
)
from ui.pair_frequencies.words import (
    LIFE_CSV_SAYS,
    brief_sentence,
    life_csv,
    life_sentence,
    pair_name,
    standing_sentence,
)
from ui.run import draw_title, offer_csv, offer_pictures, results
from ui.shell import address, frame, workspace
from ui.storage import StoredRun

_LEFT, _RIGHT, _SHOW = "life_left", "life_right", "life_show"


def life_curve(
    steps: NDArray[np.int64],
    values: NDArray[np.int64],
    *,
    is_rank: bool,
    marked: Mark | None = None,
    theme: Theme,
) -> go.Figure:
    """Draw a pair's counts or ranks, the first on top, over the steps at which it occurs.

    `steps` and `values` are int64[n]; a value stands until the step of the next one.
    """
    colours = PALETTES[theme]
    value = "rank" if is_rank else "times"
    figure = empty_figure(theme, height=240)
    figure.add_scatter(
        x=steps.tolist(),
        # In between a pair can disappear and come back.
        y=[value if value > 0 else None for value in values.tolist()],
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.primary, "shape": "hv"},
        hovertemplate=f"{value}: %{{y:,}}<br>merges: %{{x:,}}<extra></extra>",
    )
    figure.add_scatter(
        x=steps[-1:].tolist(),
        y=values[-1:].tolist(),
        mode="markers",
        marker={"size": 8, "color": colours.primary},
        cliponaxis=False,
        hoverinfo="skip",
    )
    highest = int(values.max(initial=1))
    if is_rank:
        counts_axis(figure, highest, first_on_top=True)
    else:
        tokens_axis(figure, highest)
    merges_axis(figure, int(steps[-1]), first=int(steps[0]))
    name_value_axis(figure, "rank" if is_rank else "count", theme)
    mark_step(figure, marked, theme)
    return figure


def life_place(
    steps: NDArray[np.int64], label: str, *, n_merges: int, step: int, theme: Theme
) -> go.Figure:
    """Draw the steps at which a short-lived pair occurs, as dots on one line.

    The vertical line marks the step that the page shows.
    """
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=96, left=16, top=12)
    figure.add_scatter(
        x=[0, n_merges],
        y=[0, 0],
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.line},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=steps.tolist(),
        y=[0] * len(steps),
        mode="markers",
        marker={"size": 10, "color": colours.primary},
        cliponaxis=False,
        hovertemplate="merges: %{x:,}<extra></extra>",
    )
    is_late = 2 * int(steps[-1]) > n_merges
    figure.add_annotation(
        text=f"<b>{label}</b>",
        x=int(steps[0] if is_late else steps[-1]),
        y=0,
        xshift=-10 if is_late else 10,
        yshift=14,
        xanchor="right" if is_late else "left",
        showarrow=False,
        font={"color": colours.text},
    )
    figure.add_shape(
        type="line", x0=step, x1=step, y0=-1, y1=1, line={"color": colours.text, "width": 1.5}
    )
    merges_axis(figure, n_merges)
    set_axis(figure, "y", visible=False, range=[-1, 1])
    return figure


def shown_pair(stored: StoredRun, step: int) -> Pair | None:
    """Return the chosen pair, else one of those at this step.

    Returns None if no pair is chosen and none is left.
    """
    chosen = read_pair(stored)
    return results.pair_to_follow(stored.id, step) if chosen is None else chosen


def choose_pair(pair: Pair) -> None:
    """Select the pair whose life is shown, and put it in the address."""
    address.set_query(pair=f"{pair[0]}-{pair[1]}")


def draw_life(stored: StoredRun, step: int, pair: Pair) -> None:
    """Draw the life of a pair, fields to choose another, and links onward."""
    picture = results.pair_life(stored.id, pair)
    with st.container(horizontal=True, vertical_alignment="bottom", key="life_heading"):
        with st.container(gap="xsmall", width="content"):
            st.header("One pair’s life", anchor=False)
            st.markdown(life_sentence(picture, stored.run))
            if _has_other_merge(stored, step, pair):
                st.markdown(
                    ":small[:gray[Of the most frequent pairs above, its rank rises and falls the "
                    "most.]]"
                )
        st.space("stretch")
        _ask_for_pair(stored, pair)
    if picture.is_brief:
        _draw_place(stored, picture, step)
    elif picture.life.span is not None:
        _draw_curves(stored, picture, step)
    _draw_way_onward(stored, picture)


def _has_other_merge(stored: StoredRun, step: int, pair: Pair) -> bool:
    """Return True if the page chose a pair that is not the next merge's."""
    top = results.pair_picture(stored.id, step).top
    return read_pair(stored) is None and pair != (top[0].left, top[0].right)


def _draw_place(stored: StoredRun, picture: results.LifePicture, step: int) -> None:
    """Draw the place in the run of a life too short for curves."""
    n_merges = len(stored.run.merges)
    if not n_merges:
        st.markdown(f":small[:gray[{standing_sentence(picture.life, step, n_merges)}]]")
        return
    draw_title("Its place in the run", brief_sentence(picture.life))
    there = np.flatnonzero(picture.life.counts)
    st.plotly_chart(
        life_place(
            there,
            times(int(picture.life.counts[there[0]])),
            n_merges=n_merges,
            step=step,
            theme=frame.theme_type(),
        ),
        key="life_place",
        theme=None,
        config=CONFIG,
        alt=f"Where {pair_name(stored.run, picture.pair)} occurs among "
        f"{counted(n_merges, 'merge')}.",
    )


def _draw_curves(stored: StoredRun, picture: results.LifePicture, step: int) -> None:
    life = picture.life
    columns = st.columns(2, gap="large")
    curves = (
        (
            "life_counts",
            "Its count",
            standing_sentence(life, step, len(stored.run.merges)),
            picture.drawn_counts,
            life.counts,
            "How often {} occurs",
        ),
        (
            "life_ranks",
            "Its rank",
            "One plus the number of pairs that occur more often.",
            picture.drawn_ranks,
            life.ranks,
            "The rank among all pairs of {}",
        ),
    )
    for column, (key, title, what, drawn, values, seen) in zip(columns, curves, strict=True):
        with column:
            draw_title(title, what)
            st.plotly_chart(
                life_curve(
                    drawn,
                    values[drawn],
                    is_rank=values is life.ranks,
                    marked=(step, float(values[step])) if life.counts[step] > 0 else None,
                    theme=frame.theme_type(),
                ),
                key=key,
                theme=None,
                config=CONFIG,
                alt=f"{seen.format(pair_name(stored.run, picture.pair))}, over merges.",
            )


def _draw_way_onward(stored: StoredRun, picture: results.LifePicture) -> None:
    left, right = picture.pair
    with st.container(horizontal=True, vertical_alignment="center"):
        stem = f"{file_stem(stored.title)}-pair-{left}-{right}"
        offer_csv(lambda: life_csv(picture.life), f"{stem}.csv", key="life_csv", help=LIFE_CSV_SAYS)
        if charts := _list_charts(stored, picture):
            name = pair_name(stored.run, picture.pair)
            offer_pictures(
                [
                    ChartPicture(
                        chart, f"PNG: {what}", f"{name}: {what}", stored.title, f"{stem}-{what}.png"
                    )
                    for chart, what in charts
                ],
                key="life_pictures",
            )
        if read_pair(stored) is not None:
            st.button("Choose a pair for me", on_click=address.set_query, kwargs={"pair": None})
        for rank in picture.merged_at:
            st.page_link(
                "pages/merge_loop.py",
                label=f":primary[Watch merge {rank + 1:,} →]",
                query_params={"run": stored.id, "step": str(rank)},
            )


def _list_charts(stored: StoredRun, picture: results.LifePicture) -> Sequence[tuple[str, str]]:
    """Return the keys of the charts drawn for a life, and what each shows."""
    if picture.life.span is None:
        return ()
    if picture.is_brief:
        return (("life_place", "place"),) if stored.run.merges else ()
    return (("life_counts", "count"), ("life_ranks", "rank"))


def _ask_for_pair(stored: StoredRun, pair: Pair) -> None:
    vocab = stored.run.tokenizer.vocab
    labels = token_label(vocab[pair[0]]), token_label(vocab[pair[1]])
    problems = _problems(vocab) if workspace.was_pressed(_SHOW) else []
    if not problems:
        workspace.set_widget(_LEFT, labels[0])
        workspace.set_widget(_RIGHT, labels[1])
    with (
        st.form("life_form", border=False, width=400),
        st.container(horizontal=True, vertical_alignment="bottom", gap="small"),
    ):
        st.text_input("Left symbol", key=_LEFT, max_chars=200)
        st.text_input("Right symbol", key=_RIGHT, max_chars=200)
        st.form_submit_button("Show", key=_SHOW, on_click=_choose_typed, args=(vocab, pair))
    for problem in problems:
        st.error(problem)


def _choose_typed(vocab: Mapping[int, bytes], before: Pair) -> None:
    """Select the pair typed; a field that still shows the old label means the old symbol."""
    ids: list[int] = []
    for key, id in zip((_LEFT, _RIGHT), before, strict=True):
        typed = workspace.widget_text(key)
        found = id if typed == token_label(vocab[id]) else find_symbol(typed, vocab)
        if found is not None:
            ids.append(found)
    if len(ids) == 2:
        choose_pair((ids[0], ids[1]))


def _problems(vocab: Mapping[int, bytes]) -> list[str]:
    """Return why the typed symbols are not a pair, one sentence per field."""
    typed = dict.fromkeys(workspace.widget_text(key) for key in (_LEFT, _RIGHT))
    return [
        f"No token of this run is **{plain_markdown(text)}**. Type a whole token, with a space as "
        "it is or as ␣, and bytes as the labels show them."
        if text
        else "Type both symbols of the pair."
        for text in typed
        if find_symbol(text, vocab) is None
    ]


def find_symbol(text: str, vocab: Mapping[int, bytes]) -> int | None:
    """Return the token that a text spells or that has this label, or None.

    >>> vocab = {0: b" the", 1: b"\\xe6\\x97", 2: b"a"}
    >>> [find_symbol(text, vocab) for text in (" the", "␣the", "<E6 97>", "b")]
    [0, 0, 1, None]
    """
    spelled = text.encode("utf-8", "surrogatepass")
    by_label = None
    for id, token in vocab.items():
        if token == spelled:
            return id
        if by_label is None and token_label(token) == text:
            by_label = id
    return by_label


def read_pair(stored: StoredRun) -> Pair | None:
    """Return the pair that the address names, or None if it names none of this run's tokens."""
    left, dash, right = (address.query_text("pair", 20) or "").partition("-")
    if not (dash and left.isascii() and left.isdigit() and right.isascii() and right.isdigit()):
        return None
    pair = int(left), int(right)
    vocab = stored.run.tokenizer.vocab
    return pair if pair[0] in vocab and pair[1] in vocab else None
