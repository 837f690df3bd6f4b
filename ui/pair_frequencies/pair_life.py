"""Show the life of one pair: its count and its rank after each merge.

The figures of the whole page are put into words, tables and CSV downloads here, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.checks import times
from bpe_core.trainers import PairCount, PairLife, RunCurves, SampleFigures, TrainingRun
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
    escape_markdown,
    file_stem,
    isolated,
    mark_step,
    merges_axis,
    name_value_axis,
    plain_markdown,
    set_axis,
    token_label,
    tokens_axis,
)
from ui.run import (
    Cell,
    LifePicture,
    csv_table,
    draw_title,
    offer_csv,
    offer_pictures,
    run_figures,
)
from ui.shell import check_linked, frame, show_unread, workspace
from ui.storage import StoredRun

# A reader of the file has only the column names to go by.
COLUMNS = (
    "place",
    "left",
    "right",
    "count",
    "tied for highest count",
    "joined by merge",
    "left id",
    "right id",
)
PAIRS_CSV_SAYS = (
    "Every pair, the next merge first. “Tied for highest count” is true if several pairs "
    "share the highest count and this is one of them. “Joined by merge” is empty for a pair that "
    "never merges. In “left” and “right” a space is ␣; their bytes follow in hex."
)
LIFE_COLUMNS = ("merges done", "count", "rank", "other pairs with the same count")
LIFE_CSV_SAYS = (
    "One line per step at which a figure changes. The rank is empty while the pair does not occur."
)
RUN_COLUMNS = (
    "merges done",
    "vocabulary size",
    "tokens in the corpus",
    "bytes per token on training text",
    "bytes per token on held-out text",
    "count of the pair joined next",
)
RUN_CSV_SAYS = "One line per step. Unknown figures are empty."
SAMPLE_COLUMNS = (
    "part of the text",
    "bytes",
    "merges",
    "share of equal tokens",
    "weighted Jaccard",
    "bytes per token on held-out text",
)


def pair_rows(
    pairs: Iterable[PairCount], vocab: Mapping[int, bytes], merged_at: Mapping[Pair, int]
) -> dict[str, list[object]]:
    """Return the columns of the table, one value per pair; None for a pair that never merges.

    >>> rows = pair_rows([PairCount(0, 1, 9)], {0: b" ", 1: b"t"}, {(0, 1): 45})
    >>> rows["left"], rows["right"], rows["count"], rows["joined by merge"]
    (['␣'], ['t'], [9], [46])
    """
    rows: dict[str, list[object]] = {column: [] for column in COLUMNS}
    for place, pair in enumerate(pairs, start=1):
        rank = merged_at.get((pair.left, pair.right))
        values = (
            place,
            token_label(vocab[pair.left]),
            token_label(vocab[pair.right]),
            pair.count,
            pair.tied,
            None if rank is None else rank + 1,
            pair.left,
            pair.right,
        )
        for column, value in zip(COLUMNS, values, strict=True):
            rows[column].append(value)
    return rows


def pairs_csv(
    pairs: Iterable[PairCount], vocab: Mapping[int, bytes], merged_at: Mapping[Pair, int]
) -> bytes:
    r"""Return the same as CSV, with the exact bytes of both tokens in hex.

    A label that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> pairs_csv([PairCount(0, 1, 9)], {0: b"=", 1: b"t"}, {}).decode().splitlines()[1]
    "1,'=,t,9,false,,0,1,3d,74"
    """
    pairs = list(pairs)
    columns = pair_rows(pairs, vocab, merged_at)
    columns["tied for highest count"] = ["true" if pair.tied else "false" for pair in pairs]
    columns["left bytes in hex"] = [vocab[pair.left].hex() for pair in pairs]
    columns["right bytes in hex"] = [vocab[pair.right].hex() for pair in pairs]
    return _csv(columns)


def life_csv(life: PairLife) -> bytes:
    r"""Return a pair's life as CSV, one line per step at which a figure changes.

    >>> one = np.array([1, 1, 2, 0])
    >>> life = PairLife(np.array([9, 9, 4, 0]), one, np.array([1, 1, 0, 0]))
    >>> life_csv(life).decode("utf-8-sig").split()[-3:]
    ['0,9,1,1', '2,4,2,0', '3,0,,']
    """
    figures = np.stack([life.counts, life.ranks, life.n_tied])
    changed = np.any(figures[:, 1:] != figures[:, :-1], axis=0)
    steps = np.append(0, np.flatnonzero(changed) + 1)
    counts, ranks, n_tied = figures[:, steps].tolist()
    columns = (
        steps.tolist(),
        counts,
        *(
            [n if count else None for n, count in zip(row, counts, strict=True)]
            for row in (ranks, n_tied)
        ),
    )
    return _csv(dict(zip(LIFE_COLUMNS, columns, strict=True)))


def run_csv(curves: RunCurves, tokens_after: NDArray[np.int64]) -> bytes:
    """Return a whole run as CSV, one line per step, with the count of the next winner.

    `tokens_after` is int64[n_merges + 1]. Unknown figures, such as the winner after the last merge,
    stay empty.
    """
    held_out = [None] * len(tokens_after) if curves.held_out is None else curves.held_out.tolist()
    columns = (
        list(range(len(tokens_after))),
        curves.vocab_size.tolist(),
        tokens_after.tolist(),
        curves.training.tolist(),
        held_out,
        [*curves.winner_counts.tolist(), None],
    )
    return _csv(dict(zip(RUN_COLUMNS, columns, strict=True)))


def sample_csv(figures: Sequence[SampleFigures]) -> bytes:
    """Return how vocabularies of parts of a text compare with that of all of it, as CSV.

    >>> sample_csv([SampleFigures(0.5, 10, 3, 0.75, 0.8, 2.0)]).split()[-1]
    b'0.5,10,3,0.75,0.8,2'
    """
    return _csv(dict(zip(SAMPLE_COLUMNS, zip(*figures, strict=True), strict=True)))


def _csv(columns: Mapping[str, Sequence[object]]) -> bytes:
    return csv_table(
        list(columns), cast("Iterable[Sequence[Cell]]", zip(*columns.values(), strict=True))
    )


def moment(step: int, n_merges: int) -> str:
    """Name a step of a run.

    >>> moment(45, 3_839), moment(3_839, 3_839), moment(0, 0)
    ('before merge 46', 'after the last merge', 'before any merge')
    """
    if step < n_merges:
        return f"before merge {step + 1:,}"
    return "after the last merge" if n_merges else "before any merge"


def pair_name(run: TrainingRun, pair: Pair) -> str:
    """Return a pair as the labels of its two symbols, the left one on the left in any script.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.trainers import train
    >>> from bpe_core.types import TrainingConfig
    >>> pair_name(train(Corpus.from_text("a b"), TrainingConfig(257)), (221, 66))
    '␣ + b'
    """
    labels = (token_label(run.tokenizer.vocab[id]) for id in pair)
    return " + ".join(isolated(label) for label in labels)


def life_sentence(picture: LifePicture, run: TrainingRun) -> str:
    """Describe in Markdown how a pair first appeared, its counts, and how it ended."""
    name = f"**{escape_markdown(pair_name(run, picture.pair))}**"
    life = picture.life
    if life.span is None:
        longest = run.config.max_token_bytes
        lengths = [len(run.tokenizer.vocab[id]) for id in picture.pair]
        if longest is not None and sum(lengths) > longest:
            return f"{name} cannot merge: tokens are limited to {counted(longest, 'byte')}."
        return f"{name}: its symbols are never neighbours in this run."
    first, last = life.span
    at_first, at_last = int(life.counts[first]), int(life.counts[last])
    came = "occurs from the start" if first == 0 else f"comes with merge {first:,}"
    born = f"{name} {came}, {times(at_first)}."
    if last in picture.merged_at:
        left_then = "" if at_first == at_last else f"; by then it occurs {times(at_last)}"
        return f"{born} Merge {last + 1:,} joins it{left_then}."
    if not run.merges:
        return f"{born} The run has no merges, so it stays as it is."
    if last == len(run.merges):
        left_then = "as often as at first" if at_first == at_last else times(at_last)
        return f"{born} It never merges: after the last merge it still occurs {left_then}."
    return f"{born} It never merges: other merges use up its symbols, the last merge {last + 1:,}."


def brief_sentence(life: PairLife) -> str:
    """List every point of a short life.

    >>> import numpy as np
    >>> life = PairLife(np.array([9, 9, 0]), np.array([2, 1, 0]), np.array([0, 0, 0]))
    >>> brief_sentence(life)
    'It occurs at only two points of the run: before any merge 9 times, rank 2; after 1 merge \
9 times, rank 1.'
    """
    points: list[str] = []
    for step in range(len(life.counts)):
        count, rank = int(life.counts[step]), int(life.ranks[step])
        if count:
            when = f"after {counted(step, 'merge')}" if step else "before any merge"
            points.append(f"{when} {times(count)}, rank {rank:,}")
    number = "one point" if len(points) == 1 else "two points"
    return f"It occurs at only {number} of the run: {'; '.join(points)}."


def standing_sentence(life: PairLife, step: int, n_merges: int) -> str:
    """Return a sentence on a pair's count and rank at a step.

    >>> import numpy as np
    >>> life = PairLife(np.array([9, 4]), np.array([1, 3]), np.array([0, 2]))
    >>> standing_sentence(life, 1, 1)
    'After the last merge: 4 times, rank 3, tied with 2 more.'
    """
    when = moment(step, n_merges).capitalize()
    count, rank, tied = (int(values[step]) for values in (life.counts, life.ranks, life.n_tied))
    if not count:
        return f"{when}: it does not occur."
    ties = f", tied with {tied:,} more" if tied else ""
    return f"{when}: {times(count)}, rank {rank:,}{ties}."


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
    check_linked("pair", lambda _: chosen is not None, "a pair of this run’s tokens")
    pair = run_figures.pair_to_follow(stored.id, step) if chosen is None else chosen
    show_unread("pair", pair)
    return pair


def choose_pair(pair: Pair) -> None:
    """Select the pair whose life is shown, and put it in the address."""
    workspace.set_query(pair=f"{pair[0]}-{pair[1]}")


def draw_life(stored: StoredRun, step: int, pair: Pair) -> None:
    """Draw the life of a pair, fields to choose another, and links onward."""
    picture = run_figures.pair_life(stored.id, pair)
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
    top = run_figures.pair_picture(stored.id, step).top
    return read_pair(stored) is None and pair != (top[0].left, top[0].right)


def _draw_place(stored: StoredRun, picture: run_figures.LifePicture, step: int) -> None:
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


def _draw_curves(stored: StoredRun, picture: run_figures.LifePicture, step: int) -> None:
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


def _draw_way_onward(stored: StoredRun, picture: run_figures.LifePicture) -> None:
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
            st.button("Choose a pair for me", on_click=workspace.set_query, kwargs={"pair": None})
        for rank in picture.merged_at:
            st.page_link(
                "pages/merge_loop.py",
                label=f":primary[Watch merge {rank + 1:,} →]",
                query_params={"run": stored.id, "step": str(rank)},
            )


def _list_charts(stored: StoredRun, picture: run_figures.LifePicture) -> Sequence[tuple[str, str]]:
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
    left, dash, right = (workspace.query_text("pair", 20) or "").partition("-")
    if not (dash and left.isascii() and left.isdigit() and right.isascii() and right.isdigit()):
        return None
    pair = int(left), int(right)
    vocab = stored.run.tokenizer.vocab
    return pair if pair[0] in vocab and pair[1] in vocab else None
