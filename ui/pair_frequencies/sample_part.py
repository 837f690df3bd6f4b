"""Draw the check whether there is enough text: vocabularies trained on parts of it, compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import plotly.graph_objects as go
import streamlit as st

from bpe_core.comparison import division_words
from bpe_core.corpus import Corpus
from bpe_core.runs import SampleFigures, check_parts
from ui.components import ChartPicture, FigureRow, figure_table
from ui.corpus import ReadUploads
from ui.look import (
    CONFIG,
    CURVE_WIDTH,
    PALETTES,
    Theme,
    empty_figure,
    escape_markdown,
    file_stem,
    name_base_axis,
    name_value_axis,
    set_axis,
    size_text,
    tooltip,
    value_axis,
)
from ui.pair_frequencies.words import sample_csv
from ui.run import draw_title, offer_csv, offer_pictures
from ui.shell import frame, workspace
from ui.storage import StoredRun, divide
from ui.work import Progress, Status, Task, WorkKind, begin_button, queue, show_work

MAX_BYTES: Final = 64_000_000
"""A larger text is checked on the command line: training on it takes gigabytes of this process."""

Checked = tuple[SampleFigures, ...]
CHECK: Final = WorkKind[Progress, Checked]("sample-check", max_per_visitor=2)
"""By run and training text."""
_HEIGHT = 260
_EQUAL = "equal tokens"
_JACCARD = "weighted Jaccard"
_SETTLED: Final = 0.95
"""The share of equal tokens from which on half of a text counts as giving the same vocabulary."""
_NOT_WORTH_IT: Final = 0.01
"""A gain in bytes per token below this is small for twice the text."""


ReadParts = Callable[[], tuple[Corpus, Corpus]]
"""Returns the training text and the held-out text of a run; raises BpeError."""


def stored_text(stored: StoredRun, uploaded: Corpus | None) -> ReadParts | str:
    """Return the text that a run was trained on, or a sentence on why there is none.

    Only the beginning of a long text is kept with its run; the rest is at hand if it is the corpus
    that this visitor has `uploaded`.
    """
    run = stored.run
    if run.given_base is not None:
        return "This run extends a tokenizer, and only training from scratch can be checked."
    kept, corpus = stored.training_text, stored.came_from
    if kept is not None and kept.is_whole:
        if not kept.corpus.n_bytes:
            return (
                "This run was trained on words with their counts, and only text can be divided "
                "into parts."
            )
        return lambda: (kept.corpus, stored.held_out)
    if uploaded is None or corpus is None or uploaded.sha256 != corpus.sha256:
        return (
            f"The text of this run, {size_text(run.corpus_bytes)}, is not kept whole. Upload it on "
            f"Train and come back, or run {_command(stored)}."
        )
    if uploaded.n_bytes > MAX_BYTES:
        return (
            f"The corpus of this run has {size_text(uploaded.n_bytes)}; the limit here is "
            f"{size_text(MAX_BYTES)}. Run {_command(stored)}."
        )
    share = corpus.origin.held_out_percent / 100

    def read() -> tuple[Corpus, Corpus]:
        return divide(uploaded.read(), share, corpus.origin.held_out_by)

    return read


def _command(stored: StoredRun) -> str:
    size = stored.run.tokenizer.vocab_size
    return f"`bpe sample-check FILE --vocab-size {size}` on your computer"


def checking(stored: StoredRun) -> Status[Progress, Checked] | None:
    """Return the status of the check of a run's text; None if it was not begun."""
    return queue.find(CHECK, _work_id(stored))


def begin_checking(stored: StoredRun, read: ReadParts) -> None:
    """Begin to train on parts of a run's text, with its settings. Raises TooMuchWorkError."""

    def work(task: Task[Progress]) -> Checked:
        training, held_out = read()
        run = stored.run
        # A training that was cancelled has fewer tokens than were wanted.
        config = replace(run.config, vocab_size=run.tokenizer.vocab_size)
        found = check_parts(
            training,
            held_out,
            config,
            trained=run if training.sha256 == run.corpus_sha256 else None,
            on_progress=lambda done, of: task.report(Progress(done, of)),
            should_stop=lambda: task.is_cancelled,
        )
        return tuple(found)

    queue.begin(CHECK, _work_id(stored), work)


def _work_id(stored: StoredRun) -> str:
    return f"{stored.id} {stored.run.corpus_sha256}"


def part_name(share: float) -> str:
    """Return the name of a part of the text.

    >>> part_name(1 / 64), part_name(1.0)
    ('1/64', 'all')
    """
    return "all" if share == 1 else f"1/{round(1 / share)}"


def shared_with_all(figures: Sequence[SampleFigures], *, theme: Theme) -> go.Figure:
    """Draw how much each vocabulary shares with that of all of the text, in per cent."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    curves = [
        (_JACCARD, [100 * each.weighted_jaccard for each in figures], colours.other, "5px,3px"),
        (_EQUAL, [100 * each.share_of_equal_tokens for each in figures], colours.primary, "solid"),
    ]
    for name, values, colour, dash in curves:
        _add_curve(figure, values, colour, dash, f"{name} %{{y:.1f}}% at %{{text}}", figures)
    value_axis(figure, "y", 0, 104)
    _parts_axis(figure, figures)
    name_value_axis(figure, "shared with the whole text, in %", theme)
    # In the middle, since both curves end at 100%: each on its own side, where they rise away.
    at = len(figures) // 2
    upper = max(curves, key=lambda curve: curve[1][at])
    for curve in curves:
        name, values, colour, _ = curve
        figure.add_annotation(
            text=f"<b>{name}</b>",
            x=at,
            y=values[at],
            xanchor="right" if curve is upper else "left",
            yshift=13 if curve is upper else -13,
            showarrow=False,
            font={"color": colour},
        )
    figure.layout.hovermode = "x"
    return figure


def bytes_per_token_by_part(figures: Sequence[SampleFigures], *, theme: Theme) -> go.Figure:
    """Draw bytes per token on held-out text over the parts; the last value is labelled."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    values = [each.bytes_per_token for each in figures]
    hover = "%{y:.3f} bytes per token at %{text}"
    _add_curve(figure, values, colours.primary, "solid", hover, figures)
    low = min(1.0, *values)
    value_axis(figure, "y", low, low + (max(values) - low) * 1.12 + 0.01)
    _parts_axis(figure, figures)
    name_value_axis(figure, "bytes per token on held-out text", theme)
    figure.add_annotation(
        text=f"<b>{values[-1]:.2f}</b>",
        x=len(values) - 1,
        y=values[-1],
        yshift=14,
        xanchor="right",
        showarrow=False,
        font={"color": colours.text},
    )
    figure.layout.hovermode = "x"
    return figure


def _add_curve(
    figure: go.Figure,
    values: Sequence[float],
    colour: str,
    dash: str,
    hover: str,
    figures: Sequence[SampleFigures],
) -> None:
    figure.add_scatter(
        x=list(range(len(values))),
        y=values,
        text=[part_name(each.share) for each in figures],
        mode="lines+markers",
        line={"width": CURVE_WIDTH, "color": colour, "dash": dash},
        marker={"size": 7, "color": colour},
        cliponaxis=False,
        hovertemplate=f"{hover}<extra></extra>",
    )


def _parts_axis(figure: go.Figure, figures: Sequence[SampleFigures]) -> None:
    set_axis(
        figure,
        "x",
        range=[0, len(figures) - 1],
        tickvals=list(range(len(figures))),
        ticktext=[part_name(each.share) for each in figures],
    )
    name_base_axis(figure, "part of the text")


def draw_sample_check(stored: StoredRun) -> None:
    """Draw the button that begins the check, its progress, or its result."""
    st.header("Is there enough text?", anchor=False, help=tooltip("Held-out text"))
    held_out = _held_out(stored)
    st.markdown(
        ":small[:gray[Trains with the settings of this run on 1/64, 1/32, ... of its text, and "
        f"compares each vocabulary with that of all the text. {escape_markdown(held_out)}]]"
    )
    status = checking(stored)
    if status is not None and status.result is not None:
        _draw_figures(stored, status.result)
        return
    if status is None:
        text = stored_text(stored, workspace.get(ReadUploads).corpus)
        if isinstance(text, str):
            st.info(text)
            return
        begin = partial(begin_checking, stored, text)
        begin_button("Check the text", begin, status, key="sample_check")
    show_work(
        status,
        unit="Merges",
        what="check",
        key="sample_check",
    )


def _held_out(stored: StoredRun) -> str:
    """Return which text the parts are measured on."""
    if not stored.held_out.n_bytes:
        return "This run held nothing out, so 8% of its text is held out for this."
    return division_words(stored.held_out.how)


def verdict_on(figures: Sequence[SampleFigures]) -> str:
    """Return what the figures mean, in one sentence.

    >>> figures = [SampleFigures(0.5, 1, 9, 0.98, 0.99, 4.0), SampleFigures(1, 2, 9, 1, 1, 4.01)]
    >>> verdict_on(figures)[:69]
    'Half of the text gives 98% of the same tokens: the text is large enou'
    """
    half, whole = figures[-2:]
    gain = whole.bytes_per_token / half.bytes_per_token - 1
    equal = f"Half of the text gives {half.share_of_equal_tokens:.0%} of the same tokens"
    shorter = f"{abs(gain):.1%} {'more' if gain >= 0 else 'fewer'} bytes per token"
    if gain < _NOT_WORTH_IT and half.share_of_equal_tokens >= _SETTLED:
        return (
            f"{equal}: the text is large enough. All of it has {shorter} on held-out text, so "
            "more of the same kind would change little."
        )
    if gain < _NOT_WORTH_IT:
        return (
            f"{equal}, and all of it has only {shorter} on held-out text: more text would change "
            "which rare tokens are learned, but hardly how short text becomes."
        )
    return (
        f"{equal}, and all of it has {shorter} on held-out text: more text would give a better "
        "vocabulary of this size."
    )


def _draw_figures(stored: StoredRun, figures: Sequence[SampleFigures]) -> None:
    st.markdown(f"**{verdict_on(figures)}**")
    theme, stem = frame.theme_type(), f"{file_stem(stored.title)}-sample"
    shared, lengths = st.columns(2, gap="large")
    with shared:
        draw_title(
            "The vocabulary",
            "The share of equal tokens, and their overlap weighted by use on held-out text.",
        )
        _draw_chart(
            shared_with_all(figures, theme=theme),
            "sample_shared",
            "Share of equal tokens",
            [(each.share, f"{each.share_of_equal_tokens:.0%}") for each in figures],
        )
    with lengths:
        draw_title("The tokens", "Bytes per token on text that no training has seen.")
        _draw_chart(
            bytes_per_token_by_part(figures, theme=theme),
            "sample_bytes",
            "Bytes per token on held-out text",
            [(each.share, f"{each.bytes_per_token:.2f}") for each in figures],
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_csv(lambda: sample_csv(figures), f"{stem}.csv", key="sample_csv")
        titles = ("Tokens shared with the whole text", "Bytes per token by part of the text")
        offer_pictures(
            [
                ChartPicture(
                    "sample_shared",
                    "PNG: vocabulary",
                    titles[0],
                    stored.title,
                    f"{stem}-vocabulary.png",
                ),
                ChartPicture(
                    "sample_bytes",
                    "PNG: tokens",
                    titles[1],
                    stored.title,
                    f"{stem}-tokens.png",
                ),
            ],
            key="sample_pictures",
        )
    with st.expander("The figures as a table"):
        figure_table(
            ["Equal tokens", "Weighted Jaccard", "Bytes per token", "Merges", "Bytes"],
            [
                FigureRow(
                    part_name(each.share),
                    (
                        f"{each.share_of_equal_tokens:.1%}",
                        f"{each.weighted_jaccard:.3f}",
                        f"{each.bytes_per_token:.3f}",
                        f"{each.n_merges:,}",
                        f"{each.n_bytes:,}",
                    ),
                )
                for each in figures
            ],
            caption="Vocabularies trained on parts of the text, compared with that of all of it",
            key="sample_table",
        )


def _draw_chart(
    figure: go.Figure, key: str, what: str, values: Sequence[tuple[float, str]]
) -> None:
    """Draw a chart, with its value for each part of the text as words for screen readers."""
    listed = ", ".join(f"{part_name(share)} {value}" for share, value in values)
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        config=CONFIG,
        alt=f"{what} over the part of the text: {listed}.",
    )
