"""The part on sizes: one run, cut at any number of merges, and whether there is enough text.

For the second, vocabularies are trained on parts of the text and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.comparison import (
    Rates,
    Usage,
    embedding_rows,
)
from bpe_core.corpus import Corpus
from bpe_core.tokenizer import gpt2
from bpe_core.trainers import (
    RunCurves,
    SampleFigures,
    check_parts,
)
from ui.components import ChartPicture, FigureRow, figure_table
from ui.corpus import ReadUploads, ask_for_files
from ui.host import cached, fragment
from ui.look import (
    CONFIG,
    CURVE_WIDTH,
    PALETTES,
    Theme,
    charts,
    counted,
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
from ui.pair_frequencies.pair_life import sample_csv
from ui.run import (
    Cell,
    csv_table,
    draw_figure,
    draw_title,
    offer_csv,
    offer_pictures,
    rows_of_cuts,
    run_figures,
)
from ui.shell import frame, linked_number, show_unread, workspace
from ui.storage import StoredRun, divide, load_run
from ui.tokenizers import COSTS_SAY, ask_for_rates, embedding_table_rows, text_rows, window_rows
from ui.work import Progress, Status, Task, WorkKind, begin_button, queue, show_work

COST_COLUMNS = (
    "merges kept",
    "rows of the embedding",
    "tokens of the training text",
    "cost of the training text",
    "tokens of the held-out text",
    "cost of the held-out text",
    "share of a window saved against GPT-2",
    "parameters tied",
    "parameters untied",
)
_CUT_HELP = "This run can be cut after any merge, without training again."
_COSTS_HELP = (
    "Enter your model’s figures: no prices are built in. What you leave empty is not shown."
)
_CSV_SAYS = "One line per size, from no merge to the whole run. Unknown figures are empty."
_HELD_OUT = "Held-out text"
# Each word goes through every merge of the run: 10 MB and 32,000 merges take 6 seconds.
_MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """The tokens of a run's texts at every size."""

    embedding_rows: NDArray[np.int64]
    """int64[n_merges + 1], as the others."""
    training: NDArray[np.int64]
    second: NDArray[np.int64] | None
    """The tokens of the held-out text, or of the visitor's own; None without one."""
    second_bytes: int
    second_by_gpt2: int
    """GPT-2's tokens of that text; 0 without one."""
    second_name: str


def _draw_costs(stored: StoredRun, kept: int, other: OtherText | None) -> None:
    """Draw the fields, and the costs of the run cut at `kept` merges next to the whole run."""
    st.subheader("What this size costs", anchor=False, help=_COSTS_HELP)
    rates = ask_for_rates()
    sizes = _sizes(stored, other)
    names = [f"Cut at {counted(kept, 'merge')}", "Whole run"]
    rows = cost_rows(sizes, kept, rates)
    if sizes.second is not None:
        names.append("GPT-2")
    figure_table(names, rows, caption="What this size costs", key="size_costs")
    st.markdown(f":small[:gray[{COSTS_SAY} GPT-2’s tokens of the training text are not known.]]")
    offer_csv(
        lambda: costs_csv(sizes, rates),
        f"{file_stem(stored.title)}-costs.csv",
        key="size_costs_csv",
        label="Costs of every size",
        help=_CSV_SAYS,
    )


def cost_rows(sizes: Sizes, kept: int, rates: Rates) -> list[FigureRow]:
    """Return the costs of the cut, of the whole run, and of GPT-2 if there is a second text."""
    steps = (kept, -1)
    heights = [int(sizes.embedding_rows[step]) for step in steps]
    training = [int(sizes.training[step]) for step in steps]
    if sizes.second is None:
        rows = text_rows("the training text", training, rates, fair=False)
        return [*rows, *embedding_table_rows(heights, rates)]
    usages = [
        Usage(int(sizes.second[step]), sizes.second_bytes, height)
        for step, height in zip(steps, heights, strict=True)
    ]
    usages.append(Usage(sizes.second_by_gpt2, sizes.second_bytes, embedding_rows(gpt2())))
    return [
        *text_rows("the training text", [*training, None], rates, fair=False),
        *text_rows(sizes.second_name, [usage.n_tokens for usage in usages], rates, fair=False),
        *window_rows(usages, rates, ("GPT-2", usages[-1]), fair=False),
        *embedding_table_rows([usage.embedding_rows for usage in usages], rates),
    ]


def costs_csv(sizes: Sizes, rates: Rates) -> bytes:
    """Return the costs of every size as CSV, one line each; unknown figures stay empty."""
    rows: list[Sequence[Cell]] = []
    by_gpt2 = Usage(sizes.second_by_gpt2, sizes.second_bytes, 0)
    second = [None] * len(sizes.training) if sizes.second is None else sizes.second.tolist()
    columns = (sizes.embedding_rows.tolist(), sizes.training.tolist(), second)
    for step, (height, training, others) in enumerate(zip(*columns, strict=True)):
        own = Usage(training, 0, height).costs(rates)
        price = window_saved = None
        if others is not None:
            found = Usage(others, sizes.second_bytes, height).costs(rates, by_gpt2)
            price, window_saved = found.price, found.window_saved
        rows.append(
            [
                step,
                height,
                training,
                own.price,
                others,
                price,
                window_saved,
                own.parameters_tied,
                own.parameters_untied,
            ]
        )
    return csv_table(COST_COLUMNS, rows)


def _sizes(stored: StoredRun, other: OtherText | None) -> Sizes:
    if other is not None:
        second, corpus, name = other.tokens_after, other.corpus, "your text"
    else:
        second, corpus, name = stored.held_out_tokens_after, stored.held_out, "held-out text"
    if not corpus.n_bytes:
        second = None
    return Sizes(
        embedding_rows=rows_of_cuts(stored.run)[-len(stored.run.merges) - 1 :],
        training=stored.run.tokens_after,
        second=second,
        second_bytes=corpus.n_bytes,
        second_by_gpt2=0 if second is None else _measure_usage(corpus, gpt2()).n_tokens,
        second_name=name,
    )


_measure_usage = cached(spinner="Counting GPT-2’s tokens")(Usage.of)


@fragment()
def draw_vocabulary_size(stored: StoredRun) -> None:
    """Draw bytes per token over merges, a slider that cuts the run, and what the cut costs."""
    curves = run_figures.run_curves(stored.id)
    n_merges = len(stored.run.merges)
    other: OtherText | None = None
    key, usual = f"merges_kept_{stored.id}", curves.enough_merges
    linked = linked_number("merges", usual, n_merges, what="a number of merges")
    kept = workspace.start_widget(key, linked)
    workspace.set_query(merges=kept if kept != usual else None)
    show_unread("merges", kept)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How large a vocabulary?", anchor=False, help=_CUT_HELP)
        answer = st.empty()
        size = curves.vocab_size[kept]
        st.markdown(f":small[Merges kept **{kept:,}** :gray[vocabulary {size:,}]]")
        if n_merges:
            st.slider(
                "Merges kept",
                0,
                n_merges,
                key=key,
                format="localized",
                label_visibility="collapsed",
            )
        figures = st.container()
        if n_merges:
            other = ask_for_other_text(stored)
        if other is not None:
            curves = other.curves
        if n_merges:
            answer.markdown(_size_sentence(stored, curves, other))
        with figures:
            _draw_cut(curves, kept, _held_out_words(stored, other))
            how = stored.held_out.how
            if other is None and how is not None and how.flattery:
                st.markdown(f":gray[:small[{how.flattery}]]")
    with picture:
        if not n_merges:
            st.info("This run learned no merge, so there is nothing to cut.")
            st.page_link("pages/train.py", label="Train with a larger vocabulary")
            return
        st.plotly_chart(
            charts.bytes_per_token_curves(
                curves.drawn,
                curves.training[curves.drawn],
                None if curves.held_out is None else curves.held_out[curves.drawn],
                held_out_name="held out" if other is None else "your text",
                marked=(kept, float(curves.training[kept])),
                theme=frame.theme_type(),
            ),
            key="bytes_per_token",
            theme=None,
            config=CONFIG,
            alt=f"Bytes per token over merges, from {curves.training[0]:.2f} without a merge "
            f"to {curves.training[-1]:.2f} after all {n_merges:,}.",
        )
        held_out = f", and {'held-out' if other is None else 'another'} text"
        held_out = "" if curves.held_out is None else held_out
        offer_pictures(
            [
                ChartPicture(
                    chart="bytes_per_token",
                    button="PNG",
                    title="Bytes per token over merges",
                    what=f"{stored.title}{held_out}; cut at {counted(kept, 'merge')}",
                    file_name=f"{file_stem(stored.title)}-bytes-per-token.png",
                )
            ],
            key="size_pictures",
        )
    _draw_costs(stored, kept, other)


def _size_sentence(stored: StoredRun, curves: RunCurves, other: OtherText | None) -> str:
    """Answer how large: the merges that save nearly all that the run saves on a text."""
    text = "the training text" if curves.held_out is None else "text it never saw"
    text = text if other is None else "your text"
    n_merges = len(stored.run.merges)
    return (
        f"**{counted(curves.enough_merges, 'merge')}** save 95% of the tokens that all "
        f"{n_merges:,} save on {text}."
    )


def _held_out_words(stored: StoredRun, other: OtherText | None) -> tuple[str, str, str]:
    """Return the second text's heading, its name in a sentence, and why it has no figure."""
    if other is not None:
        return "Your text", "your", "not measured"
    missing = "not measured" if stored.held_out.n_bytes else "nothing held out"
    return _HELD_OUT, "held-out", missing


def _draw_cut(curves: RunCurves, kept: int, words: tuple[str, str, str]) -> None:
    name, short, missing = words
    further, gain = curves.further_gain(kept)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        draw_figure(
            "Training text",
            f"{curves.training[kept]:.2f}",
            "bytes per token",
            width=128,
            help=tooltip("Token"),
        )
        if curves.held_out is None:
            draw_figure(name, "–", missing)
        else:
            help = tooltip("Held-out text") if name == _HELD_OUT else None
            value = f"{curves.held_out[kept]:.2f}"
            draw_figure(name, value, "bytes per token", width=128, help=help)
        if further:
            where = "training" if curves.held_out is None else short
            draw_figure(
                f"Next {counted(further, 'merge')}",
                f"{gain:+.2f}",
                f"on {where} text",
                width=124,
            )
        else:
            draw_figure("Further merges", "–", "this is the whole run", width=124)


@dataclass(frozen=True, slots=True)
class OtherText:
    """A text and its curve."""

    corpus: Corpus
    tokens_after: NDArray[np.int64]
    """int64[n_merges + 1]: its tokens after each merge."""
    curves: RunCurves
    """The run's, with this text as the held-out one."""


def ask_for_other_text(stored: StoredRun) -> OtherText | None:
    """Draw an upload in a popover; return the text's curve on this run, if there is one."""
    with st.popover("Another held-out text", width="content"):
        files = ask_for_files(
            "other",
            "Files that training has not seen",
            _MAX_BYTES,
            key="held_out_files",
            hint="Text, a table or an archive, up to 20 MB. It replaces the held-out text in this "
            "chart only.",
        )
    show_unread("other", files is not None)
    if files is None:
        return None
    _, corpus = files
    return _measured(stored.id, corpus)


@cached(spinner="Counting tokens after each merge")
def _measured(run_id: str, corpus: Corpus) -> OtherText:
    run = load_run(run_id).run
    tokens = run.tokens_after_on(corpus)
    return OtherText(corpus, tokens, run.curves(corpus.n_bytes, tokens))


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
    how = stored.held_out.how
    return "" if how is None else how.division_words


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
