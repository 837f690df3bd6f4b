"""Draw the parts of the Lab: encoders, the words that longest match cuts otherwise, trainers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from bpe_core.lab import (
    N_MERGES,
    SMALL_CHARACTERS,
    SMALL_TRAINING_CHARACTERS,
    ContenderTime,
    GrowthPoint,
    LabOrder,
    differences,
)
from bpe_core.tokenizer import Tokenizer
from ui.components import ChartPicture, draw_chart_pictures, draw_symbol_rows, figure_table, verdict
from ui.host import cached
from ui.lab import charts, words
from ui.lab.measurements import MeasurementStatus, start_measurement
from ui.lab.words import encoder_title
from ui.look import CONFIG, counted, definitions, file_stem, plain_markdown, tooltip
from ui.shell import frame
from ui.work import watch_work

_ENCODERS = (
    "Eight encoders are run on this text in turn, each for a few seconds at most, and their ids "
    "are compared. A slow encoder gets part of the text; the table shows how much."
)
_ENCODERS_BUTTON = "Measure encoders"
_FEW_ENCODED = (
    f"The first {SMALL_CHARACTERS:,} characters, with at most a tenth of a second per call. "
    f"“{_ENCODERS_BUTTON}” uses the whole text."
)
_TRAINERS = (
    "The readable reference, the engine and Hugging Face’s trainer learn the same "
    f"{N_MERGES:,} merges from longer and longer beginnings of this text."
)


_TRAINERS_BUTTON = "Measure trainers"
_FEW_TRAINED = (
    f"The first {SMALL_TRAINING_CHARACTERS:,} characters at most. “{_TRAINERS_BUTTON}” continues "
    "to the whole text."
)


def draw_encoding(
    status: MeasurementStatus | None, small: MeasurementStatus | None, order: LabOrder, about: str
) -> None:
    """Draw the visitor's measurement, or the small one if there is none."""
    st.header("Encoding", anchor=False)
    shown = draw_state(status, small, order, empty=_ENCODERS, few=_FEW_ENCODED)
    if shown is not None and shown.result is not None:
        _draw_encoding_figures(shown.result.results.encoding, shown)
    draw_button(_ENCODERS_BUTTON, status, order, about, type="primary")


def _draw_encoding_figures(found: Sequence[ContenderTime], status: MeasurementStatus) -> None:
    verdict(
        words.encoding_sentence(found),
        f"{status.about}. {words.encoding_aside(found, status.elapsed_seconds)}",
        key="encoding_verdict",
        terms=definitions("Merge", "Token"),
    )
    able = [one for one in found if one.problem is None]
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            charts.speed_dots(
                [words.encoder_title(one.name) for one in able],
                [one.megabytes_per_second for one in able],
                own=[one.name.startswith("engine") for one in able],
                exact=[one.is_equal for one in able],
                theme=frame.theme_type(),
            ),
            theme=None,
            config=CONFIG,
            key="encoding_chart",
            alt="Speed of each encoder in MB/s, as in the table next to it.",
        )
        st.markdown(":gray[A hollow dot marks different ids. The axis is logarithmic.]")
        offer_png("encoding_chart", "Speed of encoders in MB/s", status.about)
    with table:
        figure_table(
            ["MB/s", "× hash map", "of the text", "ids"],
            words.encoding_rows(found),
            caption="Encoders: speed, factor over the hash map, part of the text, same ids or not",
            key="encoding_table",
        )
    for one in found:
        if one.problem is not None:
            name = words.encoder_title(one.name)
            st.markdown(f":gray[{name}: {plain_markdown(one.problem, 400)}]")
    with st.expander("How each encoder works"):
        for encoder in words.ENCODER_WORDS.values():
            st.markdown(f"**{encoder.title}.** {encoder.explanation}")
        st.markdown(
            "The figures do not include the time to build tables or load kernels before the first "
            "text. On a new machine, the engine’s kernels are compiled first."
        )


_differences = cached(spinner="Comparing longest match with the merges")(differences)


def draw_longest_match(text: str, tokenizer: Tokenizer) -> None:
    """Draw the most frequent words that are cut differently, with both cuts."""
    st.header("Longest match is not BPE", anchor=False)
    found = _differences(tokenizer, text)
    st.markdown(words.differing_sentence(found), help=tooltip("Pre-token"))
    rows = words.differing_rows(found, tokenizer)
    if rows:
        draw_symbol_rows(
            rows,
            key="differing_words",
            caption="Words as cut by the merges and by longest match",
            columns=("By the merges", "By longest match"),
        )
    if len(found.words) > len(rows):
        st.markdown(
            f":gray[{len(rows)} of {counted(len(found.words), 'word')}, most frequent first.]"
        )


def draw_training(
    status: MeasurementStatus | None, small: MeasurementStatus | None, order: LabOrder, about: str
) -> None:
    """Draw the visitor's measurement of trainers, or the small one if there is none."""
    st.header("Training", anchor=False)
    shown = draw_state(status, small, order, empty=_TRAINERS, few=_FEW_TRAINED)
    if shown is not None and shown.result is not None:
        _draw_training_figures(shown.result.results.training, shown)
    draw_button(_TRAINERS_BUTTON, status, order, about)


def _draw_training_figures(found: Sequence[GrowthPoint], status: MeasurementStatus) -> None:
    verdict(
        words.training_sentence(found),
        f"{status.about}. {words.training_aside(found, N_MERGES)}",
        key="training_verdict",
    )
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            charts.growth_curves(
                words.growth_by_name(found), own="Engine", theme=frame.theme_type()
            ),
            theme=None,
            config=CONFIG,
            key="training_chart",
            alt="Seconds to train over bytes of text, as in the table next to it.",
        )
        offer_png("training_chart", "Seconds to train over bytes of text", status.about)
    with table:
        columns, rows = words.training_rows(found)
        st.markdown(":gray[Seconds. The dot marks the fastest.]")
        figure_table(columns, rows, caption="Seconds to train, by size", key="training_table")


def draw_button(
    label: str,
    status: MeasurementStatus | None,
    order: LabOrder,
    about: str,
    *,
    type: Literal["primary", "secondary"] = "secondary",
) -> None:
    """Draw the button that starts a measurement."""
    is_busy = status is not None and status.is_live
    if st.button(label, type=type, disabled=is_busy or not order.text):
        start_measurement(order, about)


def draw_state(
    status: MeasurementStatus | None,
    small: MeasurementStatus | None,
    order: LabOrder,
    *,
    empty: str,
    few: str,
) -> MeasurementStatus | None:
    """Draw the state of the visitor's measurement, or of the small one; return that one.

    `empty` describes the measurement before it is started, and `few` is a tooltip on what the small
    one measured, and how to measure more.
    """
    shown = small if status is None else status
    if shown is not None and shown.is_live:
        watch_work(
            shown.kind,
            shown.id,
            how_far,
            key=order.kind,
            can_cancel=status is not None,
        )
    elif shown is None or (status is None and shown.result is None):
        st.markdown(f":gray[{empty}]")
    elif shown.state == "cancelled":
        st.info("The measurement was cancelled, so there are no figures.")
    elif shown.result is None:
        st.error(f"The measurement failed. {plain_markdown(shown.problem or '', 600)}")
    elif status is None:
        st.markdown(":blue-badge[Small measurement] :gray[of the beginning]", help=few)
    elif shown.result.order != order.fingerprint:
        st.info(
            f"These figures are for **{plain_markdown(shown.about, 200)}**, not for the current "
            "choice. Measure again to update them."
        )
    return shown


def offer_png(chart: str, title: str, about: str) -> None:
    """Draw a chart's download as a picture."""
    picture = ChartPicture(chart, "PNG", title, about, f"{file_stem(title)}.png")
    draw_chart_pictures([picture], key=f"{chart}_picture")


def how_far(status: MeasurementStatus) -> str:
    """Return the progress of a live measurement as a sentence or two."""
    progress = status.progress
    if status.n_ahead:
        return f"Waiting: {counted(status.n_ahead, 'measurement')} before this one."
    if progress is None:
        return "Starting the measuring process."
    if progress.seconds_compiling is not None:
        seconds = progress.seconds_compiling
        return f"Compiling the engine, once on this machine: {seconds:.0f} s so far."
    name = encoder_title(progress.name)
    now = f" Now: {name}." if name else ""
    return f"Step {progress.done:,} of {progress.of:,}.{now}"
