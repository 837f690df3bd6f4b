"""Draw the parts of the Lab: encoders, the words that longest match cuts otherwise, trainers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from bpe_core.lab.contenders import differences
from bpe_core.lab.growth import GrowthPoint
from bpe_core.lab.measurements import (
    N_MERGES,
    SMALL_CHARACTERS,
    SMALL_TRAINING_CHARACTERS,
    LabOrder,
    Results,
)
from bpe_core.lab.measuring import ContenderTime
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.components.chart_pictures import ChartPicture, chart_pictures
from ui.components.figures import figure_table, verdict
from ui.components.symbol_rows import symbol_rows
from ui.host.error_boundary import fragment
from ui.host.sized_cache import cached
from ui.lab import charts, measurements, words
from ui.lab.measurements import MeasurementStatus, start_measurement
from ui.lab.words import encoder_title
from ui.look.chart_style import CONFIG
from ui.look.glossary import definitions, tooltip
from ui.look.labels import file_stem, plain_markdown
from ui.shell import frame
from ui.work.work_part import SECONDS_BETWEEN_LOOKS

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
    shown = status
    if status is None and small is not None:
        report = draw_small_state(small, key="small_encoding", empty=_ENCODERS, what=_FEW_ENCODED)
        shown = small
    else:
        report = draw_state(status, order, _ENCODERS)
    if shown is not None and report is not None:
        _draw_encoding_figures(report.encoding, shown)
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
        symbol_rows(
            rows,
            key="differing_words",
            caption="Words as cut by the merges and by longest match",
            columns=("By the merges", "By longest match"),
        )
    if len(found.words) > len(rows):
        st.markdown(f":gray[{len(rows)} of {len(found.words):,} words, most frequent first.]")


def draw_training(
    status: MeasurementStatus | None, small: MeasurementStatus | None, order: LabOrder, about: str
) -> None:
    """Draw the visitor's measurement of trainers, or the small one if there is none."""
    st.header("Training", anchor=False)
    shown = status
    if status is None and small is not None:
        report = draw_small_state(small, key="small_training", empty=_TRAINERS, what=_FEW_TRAINED)
        shown = small
    else:
        report = draw_state(status, order, _TRAINERS)
    if shown is not None and report is not None:
        _draw_training_figures(report.training, shown)
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


def draw_state(status: MeasurementStatus | None, order: LabOrder, empty: str) -> Results | None:
    """Draw the state of a measurement except its figures, and return the figures if there are any.

    `empty` describes the measurement before it is started.
    """
    if status is None:
        st.markdown(f":gray[{empty}]")
        return None
    if status.is_live:
        watch_measurement(status.id, key=order.kind)
    elif status.state == "cancelled":
        st.info("The measurement was cancelled, so there are no figures.")
    elif status.result is None:
        st.error(f"The measurement failed. {plain_markdown(status.problem or '', 600)}")
    else:
        if status.result.order != order.fingerprint:
            st.info(
                f"These figures are for **{plain_markdown(status.about, 200)}**, not for the "
                "current choice. Measure again to update them."
            )
        return status.result.results
    return None


def draw_small_state(
    small: MeasurementStatus, *, key: str, empty: str, what: str
) -> Results | None:
    """Draw the state of a measurement that started by itself, and return the figures if any.

    `what` is a tooltip on what it measured, and how to measure more.
    """
    if small.is_live:
        watch_measurement(small.id, key=key, can_cancel=False)
        return None
    if small.result is None:
        st.markdown(f":gray[{empty}]")
        return None
    st.markdown(":blue-badge[Small measurement] :gray[of the beginning]", help=what)
    return small.result.results


def offer_png(chart: str, title: str, about: str) -> None:
    """Draw a chart's download as a picture."""
    picture = ChartPicture(chart, "PNG", title, about, f"{file_stem(title)}.png")
    chart_pictures([picture], key=f"{chart}_picture")


@fragment(run_every=SECONDS_BETWEEN_LOOKS)
def watch_measurement(id: str, *, key: str, can_cancel: bool = True) -> None:
    """Draw a live measurement, updated twice a second; rerun the page once it has ended."""
    status = measurements.manager().status(id)
    if not status.is_live:
        st.rerun()
    with st.container(border=True, key=f"{key}_card"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Measuring**", width="content")
            st.space("stretch")
            if can_cancel:
                cancel = measurements.manager().cancel
                st.button("Cancel", on_click=cancel, args=(id,), key=f"{key}_cancel")
        st.progress(status.share)
        st.markdown(how_far(status))
        st.markdown(f":gray[{plain_markdown(status.about, 200)}]")


def how_far(status: MeasurementStatus) -> str:
    """Return the progress of a live measurement as a sentence or two."""
    progress = status.progress
    if status.state == "queued":
        one = status.n_ahead == 1
        return f"Waiting: {status.n_ahead:,} measurement{'' if one else 's'} before this one."
    if progress is None:
        return "Starting the measuring process."
    if progress.seconds_compiling is not None:
        seconds = progress.seconds_compiling
        return f"Compiling the engine, once on this machine: {seconds:.0f} s so far."
    name = encoder_title(progress.name)
    left = _time_left(progress.seconds_left, status.seconds_since_report)
    now = f" Now: {name}." if name else ""
    return f"Step {progress.done:,} of {progress.of:,}, {left}.{now}"


def _time_left(seconds: float | None, seconds_since_report: float) -> str:
    # The share of steps done is not an estimate, since steps take very different times.
    if seconds is None:
        return "time left unknown"
    left = seconds - seconds_since_report
    if left >= 0.5:
        return f"about {left:,.0f} s left"
    return "nearly done" if left > -1 else "longer than estimated"
