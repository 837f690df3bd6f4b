"""Help to choose the vocabulary size: one run, cut at any number of merges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.comparison import Rates, Usage, compute_costs, count_tokens, embedding_rows, flattery
from bpe_core.corpus import Corpus
from bpe_core.runs import bytes_per_token_after, further_gain
from bpe_core.tokenizer import gpt2
from ui.components import ChartPicture, FigureRow, figure_table
from ui.corpus import ask_for_files
from ui.host import cached, fragment
from ui.look import CONFIG, charts, counted, file_stem, tooltip
from ui.run import Cell, csv_table, draw_figure, offer_csv, offer_pictures, results, rows_of_cuts
from ui.shell import address, frame, workspace
from ui.storage import StoredRun, load_run
from ui.tokenizers import COSTS_SAY, ask_for_rates, embedding_table_rows, text_rows, window_rows

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
# Here most curves have bent but still rise, so both sides of the cut are worth seeing.
_FIRST_CUT_PERCENT = 40
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
        own = compute_costs(Usage(training, 0, height), rates)
        price = window_saved = None
        if others is not None:
            found = compute_costs(Usage(others, sizes.second_bytes, height), rates, by_gpt2)
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
        second_by_gpt2=0 if second is None else _count_tokens(corpus, gpt2()),
        second_name=name,
    )


_count_tokens = cached(spinner="Counting GPT-2’s tokens")(count_tokens)


@fragment()
def draw_vocabulary_size(stored: StoredRun) -> None:
    """Draw bytes per token over merges, a slider that cuts the run, and what the cut costs."""
    curves = results.run_curves(stored.id)
    n_merges = len(stored.run.merges)
    other: OtherText | None = None
    key, usual = f"merges_kept_{stored.id}", n_merges * _FIRST_CUT_PERCENT // 100
    kept = workspace.start_widget(key, address.query_int("merges", usual, n_merges))
    address.set_query(merges=kept if kept != usual else None)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How large a vocabulary?", anchor=False, help=_CUT_HELP)
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
            curves = replace(curves, held_out=other.bytes_per_token)
        with figures:
            _draw_cut(curves, kept, _held_out_words(stored, other))
            if other is None and (words := flattery(stored.held_out.how)):
                st.markdown(f":gray[:small[{words}]]")
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


def _held_out_words(stored: StoredRun, other: OtherText | None) -> tuple[str, str, str]:
    """Return the second text's heading, its name in a sentence, and why it has no figure."""
    if other is not None:
        return "Your text", "your", "not measured"
    missing = "not measured" if stored.held_out.n_bytes else "nothing held out"
    return _HELD_OUT, "held-out", missing


def _draw_cut(curves: results.RunCurves, kept: int, words: tuple[str, str, str]) -> None:
    name, short, missing = words
    measured = curves.training if curves.held_out is None else curves.held_out
    further, gain = further_gain(measured, kept)
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
    bytes_per_token: NDArray[np.float64]
    """float64[n_merges + 1]."""


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
    if files is None:
        return None
    _, corpus = files
    return _measured(stored.id, corpus)


@cached(spinner="Counting tokens after each merge")
def _measured(run_id: str, corpus: Corpus) -> OtherText:
    tokens = load_run(run_id).run.tokens_after_on(corpus)
    return OtherText(corpus, tokens, bytes_per_token_after(corpus.n_bytes, tokens))
