"""Draw the parts of the Lab: encoders, the words that longest match cuts otherwise, trainers.

Measurements are put into sentences and tables, then drawn on logarithmic axes.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import plotly.graph_objects as go
import streamlit as st

from bpe_core.corpus import load_sample, samples
from bpe_core.errors import BpeError, ProcessError, UnforeseenError
from bpe_core.lab import (
    ContenderTime,
    Differences,
    GrowthPoint,
    Kind,
    LabOrder,
    LabProgress,
    Results,
)
from bpe_core.processes import Limits
from bpe_core.tokenizer import Tokenizer
from ui.components import (
    ChartPicture,
    FigureRow,
    SymbolRow,
    Tile,
    Tiles,
    draw_chart_pictures,
    draw_symbol_rows,
    figure_table,
    verdict,
)
from ui.corpus import leave_text_address, text_field
from ui.host import cached, errors_shown
from ui.look import (
    CONFIG,
    CURVE_WIDTH,
    PALETTES,
    Axis,
    Theme,
    counted,
    definitions,
    empty_figure,
    escaped,
    file_stem,
    label_ends,
    label_right,
    name_base_axis,
    name_rows,
    name_value_axis,
    plain_markdown,
    power_ticks,
    set_axis,
    size_text,
    tooltip,
)
from ui.shell import bound, frame, workspace
from ui.work import Status, Task, TooMuchWorkError, UnknownWorkError, WorkKind, queue, watch_work

MAX_SECONDS: Final = 180.0
MAX_SMALL_SIZE: Final = 60_000
"""Tokens; building the tables of a larger vocabulary takes too long for a small measurement."""


@dataclass(frozen=True, slots=True)
class FinishedMeasurement:
    """The results of a measurement, and the fingerprint of its order."""

    results: Results
    order: str


MeasurementStatus = Status[LabProgress, FinishedMeasurement]


class MeasurementError(BpeError):
    """The measuring process exceeded its limit of time, was killed or crashed."""


MEASURE: Final = WorkKind[LabProgress, FinishedMeasurement]("measuring", max_waiting=8)
"""One at a time, since two at once would slow each other down."""


def begin_measurement(order: LabOrder, *, about: str) -> str:
    """Queue a measurement and return its id; raises `TooMuchWorkError`."""
    id = secrets.token_urlsafe(16)
    queue.begin(MEASURE, id, partial(_measure, order), about=about)
    return id


def shared_measurement(order: LabOrder, *, about: str) -> MeasurementStatus:
    """Return the status of an order's shared measurement, queueing it if it isn't known.

    Callers with equal orders share one measurement. Raises `TooMuchWorkError`.
    """
    return queue.begin(MEASURE, order.fingerprint, partial(_measure, order), about=about)


def _measure(order: LabOrder, task: Task[LabProgress]) -> FinishedMeasurement:
    try:
        results = order.run_in_process(
            limits=Limits(MAX_SECONDS),
            on_progress=task.report,
            should_stop=lambda: task.is_cancelled,
        )
    except UnforeseenError:
        raise
    except ProcessError as error:
        raise MeasurementError(f"{error} Try a shorter text.") from None
    return FinishedMeasurement(results, order.fingerprint)


def read_measurements(*kinds: Kind) -> list[MeasurementStatus | None]:
    """Return the measurements named in the address, with one warning if some are unknown."""
    found: list[MeasurementStatus | None] = []
    problems: list[str] = []
    for kind in kinds:
        id = workspace.query_text(kind)
        try:
            found.append(None if id is None else queue.status(MEASURE, id))
        except UnknownWorkError as error:
            workspace.set_query(**{kind: None})
            problems.append(str(error))
            found.append(None)
    for problem in dict.fromkeys(problems):
        st.warning(plain_markdown(problem, 600))
    return found


def start_measurement(order: LabOrder, about: str) -> None:
    """Queue a measurement and name it in the address; draw an error if the queue is full."""
    with errors_shown():
        workspace.set_query(**{order.kind: begin_measurement(order, about=about)})
        st.rerun()


def small_measurement(
    text: str, tokenizer: Tokenizer | None, about: str
) -> MeasurementStatus | None:
    """Return the small measurement of a text, starting it if needed; None if it can't be run now.

    It is of encoders with a tokenizer, else of trainers. All visitors with the same text and
    tokenizer share it.
    """
    if tokenizer is not None and tokenizer.vocab_size > MAX_SMALL_SIZE:
        return None
    try:
        return shared_measurement(LabOrder.small(text, tokenizer), about=about)
    except TooMuchWorkError:
        return None


OWN_TEXT = "Your text"
_SAMPLES = ("python-help", "python-library", "multilingual")
FIRST_TEXT = "Write or paste a text here. Unbelievably, the longest match overwrites other tokens."


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """The text to measure on."""

    text: str
    name: str
    """As used in a sentence."""
    is_sample: bool

    @property
    def about(self) -> str:
        """Its name and length."""
        return f"{self.name}, {counted(len(self.text.encode()), 'byte')}"


def choose_text(max_characters: int) -> MeasuredText:
    """Draw the choice of text and return the text, cut to `max_characters` with a warning."""
    titles = {sample.title: sample.id for sample in samples() if sample.id in _SAMPLES}
    options = [*titles, OWN_TEXT]
    box = partial(st.selectbox, "Text", options, label_visibility="collapsed", width=280)
    chosen = bound(box, key="lab_text", usable=options)
    if chosen in titles:
        leave_text_address()
        sample = "\n".join(load_sample(titles[chosen]).documents)
        text = MeasuredText(sample, chosen, is_sample=True)
    else:
        own = text_field(FIRST_TEXT, key="lab_own_text")
        text = MeasuredText(own, "your text", is_sample=False)
    if len(text.text) <= max_characters:
        return text
    st.warning(f"Only the first {max_characters:,} characters are measured.")
    return MeasuredText(text.text[:max_characters], text.name, text.is_sample)


MAX_WORDS = 8
_MAX_WORD_LENGTH = 24
"""The most tokens of a word shown in a row; longer words are left out."""

TRAINER_WORDS = {
    "reference": "Reference",
    "engine": "Engine",
    "tokenizers": "tokenizers",
}
_ROW = 34
_NAME_SIZE = 14
_DASHES = ("2px,3px", "solid", "6px,4px")
_ENCODERS = (
    "Eight encoders are run on this text in turn, each for a few seconds at most, and their ids "
    "are compared. A slow encoder gets part of the text; the table shows how much."
)
_ENCODERS_BUTTON = "Measure encoders"
_FEW_ENCODED = (
    f"The first {LabOrder.SMALL_CHARACTERS:,} characters, with at most a tenth of a second per "
    f"call. “{_ENCODERS_BUTTON}” uses the whole text."
)
_TRAINERS = (
    "The readable reference, the engine and Hugging Face’s trainer learn the same "
    f"{LabOrder.N_MERGES:,} merges from longer and longer beginnings of this text."
)
_TRAINERS_BUTTON = "Measure trainers"
_FEW_TRAINED = (
    f"The first {LabOrder.SMALL_TRAINING_CHARACTERS:,} characters at most. “{_TRAINERS_BUTTON}” "
    "continues to the whole text."
)
_differences = cached(spinner="Comparing longest match with the merges")(Differences.of)


@dataclass(frozen=True, slots=True)
class EncoderWords:
    """The name and the explanation of an encoder, for readers."""

    title: str
    explanation: str


ENCODER_WORDS = {
    "list-index": EncoderWords(
        "List of merges",
        "Finds the rank of a pair by searching the list of merges, and looks up all pairs "
        "again after each merge. The simplest way to write it.",
    ),
    "hash-map": EncoderWords(
        "Hash map of ranks",
        "The same rule, with ranks in a dictionary. The other encoders are compared with it.",
    ),
    "trie": EncoderWords(
        "Trie with backtracking",
        "Takes whole tokens from left to right, and steps back if two of them would have been "
        "merged differently. Exact.",
    ),
    "longest-match": EncoderWords(
        "Longest match",
        "Always takes the longest matching token. It is not BPE: on some words it returns other "
        "tokens.",
    ),
    "engine-cold": EncoderWords(
        "Engine, first time", "This app’s compiled encoder, with none of the words cached."
    ),
    "engine-warm": EncoderWords("Engine, again", "The same, with the words of the text cached."),
    "tiktoken": EncoderWords("tiktoken", "OpenAI’s encoder, in Rust."),
    "tokenizers": EncoderWords(
        "tokenizers",
        "Hugging Face’s encoder, in Rust. It caches words, and creates an object for each token.",
    ),
}


def encoder_title(name: str) -> str:
    """Return the name of an encoder or trainer for readers; empty for an unknown one."""
    return ENCODER_WORDS[name].title if name in ENCODER_WORDS else TRAINER_WORDS.get(name, "")


def encoding_rows(found: Sequence[ContenderTime]) -> list[FigureRow]:
    """Return the table of encoders: MB/s, factor to the hash map, part measured, equality."""
    hash_map = next(
        (one.megabytes_per_second for one in found if one.name == "hash-map" and not one.problem),
        0.0,
    )
    rows: list[FigureRow] = []
    for one in found:
        if one.problem is not None:
            rows.append(FigureRow(encoder_title(one.name), ("–", "–", "–", "not possible")))
            continue
        speed = one.megabytes_per_second
        times = speed_text(speed / hash_map) if hash_map else "–"
        part = "all" if one.is_whole else size_text(one.n_bytes)
        same = "equal" if one.is_equal else "differ"
        rows.append(FigureRow(encoder_title(one.name), (speed_text(speed), times, part, same)))
    return rows


def encoding_sentence(found: Sequence[ContenderTime]) -> list[tuple[str, bool]]:
    """Return the main result of the encoders, as pieces, each with whether it is bold."""
    speeds = {one.name: one.megabytes_per_second for one in found if one.problem is None}
    slow, trie, hash_map = (speeds.get(name) for name in ("list-index", "trie", "hash-map"))
    if not (slow and trie and hash_map):
        return [("Not every encoder supports this tokenizer.", False)]
    return [
        ("In plain Python the trie ", False),
        (compared(trie, hash_map), True),
        (" the hash map, and the hash map ", False),
        (compared(hash_map, slow), True),
        (" a list of merges.", False),
    ]


def compared(speed: float, other: float) -> str:
    """Compare two speeds in words; without a number if it would round to 1.

    >>> compared(3.0, 2.0), compared(1.0, 20.0), compared(1.03, 1.0)
    ('is 1.5 times as fast as', 'takes 20 times as long as', 'is as fast as')
    """
    times = speed_text(max(speed / other, other / speed))
    if times == speed_text(1.0):
        return "is as fast as"
    return f"is {times} times as fast as" if speed > other else f"takes {times} times as long as"


def encoding_aside(found: Sequence[ContenderTime], seconds: float) -> str:
    """Return which ids were equal, and how the time was measured."""
    able = [one for one in found if one.problem is None]
    differ = [encoder_title(one.name) for one in able if not one.is_equal]
    equal = len(able) - len(differ)
    equality = f"{equal} of {len(able)} encoders returned the same ids"
    equality += f"; {' and '.join(differ)} did not. " if differ else ". "
    return f"{equality}Medians of calls in turn, on one thread, {seconds:.0f} s in all."


def training_rows(found: Sequence[GrowthPoint]) -> tuple[list[str], list[FigureRow]]:
    """Return the table of trainers: a column for each trainer, a row for each size."""
    names = list(dict.fromkeys(one.name for one in found))
    by_size: dict[int, dict[str, GrowthPoint]] = {}
    for one in found:
        by_size.setdefault(one.n_bytes, {})[one.name] = one
    rows: list[FigureRow] = []
    for size, row in by_size.items():
        shown = {name: f"{one.seconds:,.3f}" for name, one in row.items()}
        least = shown[min(row, key=lambda name: row[name].seconds)]
        figures = tuple(
            shown[name] + ("" if row[name].is_equal else " differs") if name in row else "–"
            for name in names
        )
        fastest = tuple(place for place, name in enumerate(names) if shown.get(name) == least)
        rows.append(FigureRow(size_text(size), figures, fastest))
    return [encoder_title(name) for name in names], rows


def training_sentence(found: Sequence[GrowthPoint]) -> list[tuple[str, bool]]:
    """Return the main result of the trainers, as pieces, each with whether it is bold."""
    seconds = {(one.name, one.n_bytes): one.seconds for one in found}
    last = max((size for name, size in seconds if name == "engine"), default=0)
    ours, theirs = seconds.get(("engine", last), 0.0), seconds.get(("tokenizers", last), 0.0)
    if not (ours and theirs):
        return [("The engine and tokenizers were not measured at the same size.", False)]
    pieces = [
        (f"On {size_text(last)} of text the engine ", False),
        (compared(1 / ours, 1 / theirs), True),
        (" tokenizers.", False),
    ]
    reached = max((size for name, size in seconds if name == "reference"), default=last)
    if reached < last:
        pieces += [
            (" The reference, which recounts all pairs for each merge, was dropped after ", False),
            (f"{size_text(reached)}.", True),
        ]
    return pieces


def training_aside(found: Sequence[GrowthPoint], n_merges: int) -> str:
    """Return whether the merges were equal, and what the times include."""
    unequal = sorted({encoder_title(one.name) for one in found if not one.is_equal})
    equality = (
        f"The merges of {' and '.join(unequal)} differed from the others."
        if unequal
        else "All learned the same merges, in the same order, at every size."
    )
    return (
        f"{equality} Up to {n_merges:,} merges over all 256 bytes, including pre-tokenization. "
        "Hugging Face’s trainer uses all cores."
    )


def growth_by_name(
    found: Sequence[GrowthPoint],
) -> dict[str, tuple[list[int], list[float]]]:
    """Return the points of each trainer's curve, by its name for readers."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    for one in found:
        sizes, seconds = curves.setdefault(encoder_title(one.name), ([], []))
        sizes.append(one.n_bytes)
        seconds.append(one.seconds)
    return curves


def differing_rows(found: Differences, tokenizer: Tokenizer) -> list[SymbolRow]:
    """Return the most frequent words that longest match cuts differently, with both cuts."""
    short = [word for word in found.words if len(word.ids) <= _MAX_WORD_LENGTH]
    return [
        SymbolRow(
            f"{word.count:,}×",
            (_tiles(word.ids, tokenizer), _tiles(word.longest_match_ids, tokenizer)),
        )
        for word in short[:MAX_WORDS]
    ]


def differing_sentence(found: Differences) -> str:
    """Return how many of a text's words longest match cuts differently."""
    if not found.n_pretokens:
        return "This text has no words."
    if not found.words:
        return (
            f"On all {counted(found.n_pretokens, 'pre-token')} of this text, longest match returns "
            "the same tokens as the merges."
        )
    share = found.n_differing / found.n_pretokens
    return (
        f"Longest match cuts {found.n_differing:,} of {counted(found.n_pretokens, 'pre-token')} "
        f"({share:.1%}) differently from the merges: {counted(len(found.words), 'distinct word')}."
    )


def _tiles(ids: Sequence[int], tokenizer: Tokenizer) -> Tiles:
    return Tiles(
        tuple(Tile(tokenizer.vocab[id], id if id in tokenizer.table.parts else None) for id in ids)
    )


def speed_dots(
    names: Sequence[str],
    speeds: Sequence[float],
    *,
    own: Sequence[bool],
    exact: Sequence[bool],
    theme: Theme,
) -> go.Figure:
    """Draw speeds in MB/s as dots on a log axis, each with a line from the left.

    Dots of the app's `own` encoders are blue, and those not `exact` are hollow. A bar's length has
    no meaning on a log axis, so a dot marks the value, and the line only leads the eye to it.
    """
    colours = PALETTES[theme]
    n = len(names)
    figure = empty_figure(theme, height=n * _ROW + 60, top=8)
    low = 10 ** math.floor(math.log10(min(speeds, default=1.0)))
    high = max([*speeds, low * 10])
    fills = [colours.primary if is_own else colours.muted for is_own in own]
    for row, (speed, fill) in enumerate(zip(speeds, fills, strict=True)):
        figure.add_shape(
            type="line",
            x0=low,
            x1=speed,
            y0=row,
            y1=row,
            layer="below",
            line={"color": fill, "width": 2},
        )
    figure.add_scatter(
        x=list(speeds),
        y=list(range(n)),
        mode="markers",
        marker={
            "size": 12,
            "color": [
                fill if is_exact else colours.background
                for fill, is_exact in zip(fills, exact, strict=True)
            ],
            "line": {"color": fills, "width": 2},
        },
        cliponaxis=False,
        customdata=[escaped(name) for name in names],
        hovertemplate="%{customdata}: %{x:.3g} MB/s<extra></extra>",
    )
    _log_axis(figure, "x", math.log10(low), math.log10(high) + 0.1, showgrid=True)
    font = {"color": colours.text, "size": _NAME_SIZE}
    name_rows(figure, [f"{escaped(name)} " for name in names], font)
    label_right(figure, list(range(n)), [speed_text(speed) for speed in speeds], colours.text)
    name_base_axis(figure, "MB/s")
    return figure


def growth_curves(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, own: str, theme: Theme
) -> go.Figure:
    """Draw seconds over bytes for each name, on log axes; the `own` line is blue."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=360, top=36)
    sizes = [size for xs, _ in curves.values() for size in xs] or [1]
    times = [seconds for _, ys in curves.values() for seconds in ys] or [1.0]
    ends: list[tuple[str, float, str]] = []
    for place, (name, (xs, ys)) in enumerate(curves.items()):
        colour = colours.primary if name == own else (colours.muted, colours.other)[place > 1]
        figure.add_scatter(
            x=list(xs),
            y=list(ys),
            mode="lines+markers",
            line={"width": CURVE_WIDTH, "color": colour, "dash": _DASHES[place % 3]},
            marker={"size": 8, "color": colour},
            cliponaxis=False,
            customdata=[escaped(name)] * len(xs),
            hovertemplate="%{customdata}: %{x:,} bytes in %{y:.3g} s<extra></extra>",
        )
        if xs:
            ends.append((escaped(name), ys[-1], colour))
    first, last = math.log10(min(sizes)), math.log10(max(sizes))
    low, high = math.floor(math.log10(min(times))), math.log10(max(times))
    _log_axis(figure, "y", low, max(high + 0.15, low + 1))
    # A single size spans no range, so the axis shows the decade that contains it.
    start = first - 0.08 if first < last else math.floor(first)
    _log_axis(figure, "x", start, max(last + 0.08, start + 1), exponentformat="B")
    label_ends(figure, ends, is_log=True)
    name_value_axis(figure, "seconds", theme)
    name_base_axis(figure, "bytes of text")
    return figure


def speed_text(speed: float) -> str:
    """Format a speed with two or three significant digits, never in scientific notation.

    >>> speed_text(0.0012345), speed_text(1.204), speed_text(152.6)
    ('0.0012', '1.2', '153')
    """
    if speed >= 100:
        return f"{speed:,.0f}"
    return f"{speed:.{max(0, 1 - math.floor(math.log10(speed)))}f}" if speed > 0 else "0"


def _log_axis(
    figure: go.Figure,
    axis: Axis,
    low: float,
    high: float,
    *,
    exponentformat: str = "none",  # 0.001 seconds are no “1 m”
    **properties: Any,
) -> None:
    """Draw an axis in powers of ten, from 10**low to 10**high."""
    ticks = {"dtick": power_ticks(high - low), "exponentformat": exponentformat}
    set_axis(figure, axis, type="log", range=[low, high], **ticks, **properties)


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
        encoding_sentence(found),
        f"{status.about}. {encoding_aside(found, status.elapsed_seconds)}",
        key="encoding_verdict",
        terms=definitions("Merge", "Token"),
    )
    able = [one for one in found if one.problem is None]
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            speed_dots(
                [encoder_title(one.name) for one in able],
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
    with table, st.expander("As a table"):
        figure_table(
            ["MB/s", "× hash map", "of the text", "ids"],
            encoding_rows(found),
            caption="Encoders: speed, factor over the hash map, part of the text, same ids or not",
            key="encoding_table",
        )
    for one in found:
        if one.problem is not None:
            name = encoder_title(one.name)
            st.markdown(f":gray[{name}: {plain_markdown(one.problem, 400)}]")
    with st.expander("How each encoder works"):
        for encoder in ENCODER_WORDS.values():
            st.markdown(f"**{encoder.title}.** {encoder.explanation}")
        st.markdown(
            "The figures do not include the time to build tables or load kernels before the first "
            "text. On a new machine, the engine’s kernels are compiled first."
        )


def draw_longest_match(text: str, tokenizer: Tokenizer) -> None:
    """Draw the most frequent words that are cut differently, with both cuts."""
    st.header("Longest match is not BPE", anchor=False)
    found = _differences(tokenizer, text)
    st.markdown(differing_sentence(found), help=tooltip("Pre-token"))
    rows = differing_rows(found, tokenizer)
    if not rows:
        return
    with st.expander("These words"):
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
        training_sentence(found),
        f"{status.about}. {training_aside(found, LabOrder.N_MERGES)}",
        key="training_verdict",
    )
    picture, table = st.columns(2, gap="large")
    with picture:
        st.plotly_chart(
            growth_curves(growth_by_name(found), own="Engine", theme=frame.theme_type()),
            theme=None,
            config=CONFIG,
            key="training_chart",
            alt="Seconds to train over bytes of text, as in the table next to it.",
        )
        offer_png("training_chart", "Seconds to train over bytes of text", status.about)
    with table, st.expander("As a table"):
        columns, rows = training_rows(found)
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
