"""Compute and draw what new tokens gain and cost, for Extend and Replace: figures, curves, tables.

Gains are measured on held-out text and on a general one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.adapting import (
    WORTH,
    Advice,
    KindGain,
    advise_size,
    count_after_new_tokens,
)
from bpe_core.comparison import IntervalWords, Usage, describe_interval
from bpe_core.corpus import Corpus, load_sample
from bpe_core.runs import TrainingRun
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import read_only
from ui.adapt.adapting_process import HELD_OUT, general_titles, judged
from ui.components import ChartPicture, FigureRow, figure_table
from ui.corpus import text_field
from ui.host import cached
from ui.look import (
    CONFIG,
    CURVE_WIDTH,
    PALETTES,
    Mark,
    Theme,
    counted,
    empty_figure,
    file_stem,
    label_ends,
    mark_step,
    merges_axis,
    name_value_axis,
    plain_markdown,
    plain_text,
    share_text,
    tooltip,
    value_axis,
)
from ui.run import draw_figure, offer_pictures
from ui.shell import frame
from ui.storage import StoredRun, load_run
from ui.tokenizers import COSTS_SAY, ask_for_rates, embedding_table_rows, text_rows, window_rows

FURTHER = 100
"""The number of further tokens whose gain is shown."""
_MAX_NAME_LENGTH = 40

_HEIGHT = 292
_OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here that is outside your domain."
_MIN_TOP = 1.0
"""In per cent: a text that gains nothing is a line at the bottom, not magnified noise."""


@dataclass(frozen=True, slots=True)
class Further:
    """What some of the added tokens gain."""

    start: int
    """How many tokens come before these."""
    stop: int
    gain: float
    """In per cent of the base's tokens."""
    are_last: bool
    """Whether there are no later ones."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The tokens of a text after each added token."""

    title: str
    n_bytes: int
    tokens: NDArray[np.int64]
    """int64[n], read-only: the base's first, then those after each new token or each of `sizes`."""
    sizes: tuple[int, ...] | None = None
    """After how many changed tokens each of `tokens` was counted, from 0; None after each one."""

    @property
    def fewer(self) -> NDArray[np.float64]:
        """float64[n]: the tokens saved, in per cent of the base's tokens."""
        return 100 * (1 - self.tokens / self.tokens[0])

    def further(self, at: int) -> Further:
        """Return what the tokens after entry `at` gain, or at the end the last ones before it.

        These are at most 100, or those up to the next of the `sizes`.

        >>> gain = Gain("text", 9, np.array([80, 60, 50]), (0, 200, 400))
        >>> gain.further(1), gain.further(2).are_last
        (Further(start=200, stop=400, gain=12.5, are_last=False), True)
        """
        step = FURTHER if self.sizes is None else 1
        last = len(self.tokens) - 1
        are_last = at == last
        start = max(at - step, 0) if are_last else at
        stop = min(start + step, last)
        gain = 100 * int(self.tokens[start] - self.tokens[stop]) / int(self.tokens[0])
        if self.sizes is not None:
            start, stop = self.sizes[start], self.sizes[stop]
        return Further(start, stop, gain, are_last)


def domain_gain(stored: StoredRun) -> Gain:
    """Return the gain on the held-out text; on the training text if nothing was held out."""
    return _domain_gain(stored.id, stored)


@cached(spinner="Counting the tokens")
def _domain_gain(run_id: str, _stored: StoredRun) -> Gain:
    run, held_out = _stored.run, _stored.held_out
    title, tokens = judged(_stored.held_out_tokens_after, run.tokens_after)
    if title == HELD_OUT:
        tokens = count_after_new_tokens(run, tokens, held_out)
        return Gain(title, held_out.n_bytes, read_only(tokens))
    return Gain(title, run.corpus_bytes, training_tokens(run))


def training_tokens(run: TrainingRun) -> NDArray[np.int64]:
    """Return int64[n + 1], read-only: the tokens of the training text after each new token."""
    return read_only(count_after_new_tokens(run, run.tokens_after, run.pretokens))


_WORTH: Final[Mapping[str, float]] = {"0.05%": 0.0005, "0.1%": WORTH, "0.5%": 0.005, "1%": 0.01}


def draw_advice(stored: StoredRun) -> None:
    """Draw after how many new tokens a further hundred is no longer worth it."""
    gain = domain_gain(stored)
    share = st.selectbox(
        "A hundred more are worth it if they save",
        [*_WORTH],
        index=1,
        key=f"worth_{stored.id}",
        help="Of the tokens that the text takes with the base. Every token costs a row of the "
        "embedding, and a row that is seen fewer than 100 times is hardly trained.",
    )
    advice = _advice(stored.id, _WORTH[share], stored.run, gain)
    st.markdown(f":small[{plain_markdown(advice.sentence, 400)} :gray[On {gain.title}.]]")


@cached(spinner="Counting uses")
def _advice(run_id: str, worth: float, _run: TrainingRun, _gain: Gain) -> Advice:
    return advise_size(_run, _gain.tokens, worth)


def how_sure(stored: StoredRun) -> IntervalWords:
    """Return how sure the gain on the held-out text is, if any was held out."""
    base, held_out = stored.run.given_base, stored.held_out
    if base is None or domain_gain(stored).title != HELD_OUT:
        return IntervalWords()
    return _how_sure(stored.id, held_out, stored.run.tokenizer, base)


@cached(spinner="Computing the interval")
def _how_sure(
    run_id: str, _held_out: Corpus, _tokenizer: Tokenizer, _base: Tokenizer
) -> IntervalWords:
    return describe_interval(_held_out, _tokenizer, _base)


def usual_general(title: str) -> str:
    """Return the id of the general text to begin with: none that a run of this title learned."""
    return next(id for id, name in general_titles().items() if name not in title)


@cached(spinner="Counting the tokens of a general text")
def general_gain(run_id: str, sample_id: str) -> Gain:
    """Return the gain of a run on a sample."""
    corpus = load_sample(sample_id)
    return _measured(run_id, general_titles()[sample_id], corpus)


@cached(spinner="Counting the tokens of your text")
def own_gain(run_id: str, sha256: str, _corpus: Corpus) -> Gain:
    """Return the gain of a run on a visitor's own text."""
    return _measured(run_id, "your text", _corpus)


def _measured(run_id: str, title: str, corpus: Corpus) -> Gain:
    run = load_run(run_id).run
    tokens = count_after_new_tokens(run, run.tokens_after_on(corpus), corpus)
    return Gain(title, corpus.n_bytes, read_only(tokens))


def base_name(stored: StoredRun) -> str:
    """Return the name of a run's base, shortened."""
    return plain_text(stored.base.name if stored.base else "its base", _MAX_NAME_LENGTH)


class Curve(NamedTuple):
    """A curve with its label."""

    name: str
    values: NDArray[np.float64]
    """float64[n]: one value per step."""


def fewer_tokens(
    steps: NDArray[np.int64],
    curves: Sequence[Curve],
    *,
    marked: Mark | None,
    theme: Theme,
    counts: str = "tokens added",
) -> go.Figure:
    """Draw the percentage of tokens that texts save, over the `counts`.

    The first curve is solid, the second dashed.
    """
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    looks = [(colours.primary, "solid"), (colours.other, "5px,3px")]
    for curve, (colour, dash) in reversed(list(zip(curves, looks, strict=False))):
        figure.add_scatter(
            x=steps.tolist(),
            y=curve.values.tolist(),
            mode="lines",
            name=curve.name,
            line={"width": CURVE_WIDTH, "color": colour, "dash": dash},
            hovertemplate=f"{curve.name} %{{y:.1f}}% fewer tokens<extra></extra>",
        )
    top = max(_MIN_TOP, *(float(curve.values.max()) for curve in curves)) * 1.04
    low = min(0.0, *(float(curve.values.min()) for curve in curves)) * 1.04
    value_axis(figure, "y", low, top)
    ends = [
        (f"{curve.name} {curve.values[-1]:z.2f}", float(curve.values[-1]), colour)
        for curve, (colour, _) in zip(curves, looks, strict=False)
    ]
    label_ends(figure, ends)
    merges_axis(figure, int(steps[-1]), counts=counts)
    name_value_axis(figure, "fewer tokens than the base, in %", theme)
    mark_step(figure, marked, theme)
    figure.layout.hovermode = "x"
    return figure


def tokens_over_removals(
    steps: NDArray[np.int64], curve: Curve, *, marked: Mark | None, theme: Theme
) -> go.Figure:
    """Draw the percentage of tokens that a text takes more, over the tokens removed."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    figure.add_scatter(
        x=steps.tolist(),
        y=curve.values.tolist(),
        mode="lines",
        name=curve.name,
        line={"width": CURVE_WIDTH, "color": colours.primary},
        hovertemplate=f"{curve.name} %{{y:.1f}}% more tokens<extra></extra>",
    )
    value_axis(figure, "y", 0, max(_MIN_TOP, float(curve.values.max())) * 1.04)
    merges_axis(figure, int(steps[-1]), counts="tokens removed")
    name_value_axis(figure, "more tokens, in %", theme)
    mark_step(figure, marked, theme)
    figure.layout.hovermode = "x"
    return figure


def draw_gain_figures(domain: Gain, general: Gain, at: int) -> None:
    """Draw what is gained on both texts at entry `at` of the gains, and by further tokens."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        draw_figure(
            domain.title[0].upper() + domain.title[1:],
            *_fewer_or_more(float(domain.fewer[at])),
            width=124,
            help=tooltip("Held-out text") if domain.title == HELD_OUT else None,
        )
        draw_figure("General text", *_fewer_or_more(float(general.fewer[at])), width=124)
        draw_figure(*_further_words(domain.further(at), domain.title), width=124)


def draw_gain_curves(
    domain: Gain, general: Gain, at: int, *, base: str, title: str, entries: NDArray[np.int64]
) -> None:
    """Draw the chosen entries of both gains as curves, with entry `at` marked, and its picture.

    `title` says what was done to which base, and names the file.
    """
    sizes = entries if domain.sizes is None else np.array(domain.sizes, np.int64)[entries]
    changed = "added" if domain.sizes is None else "replaced"
    size = at if domain.sizes is None else domain.sizes[at]
    own = "held out" if domain.title == HELD_OUT else "training"
    curves = [Curve(own, domain.fewer[entries]), Curve("general", general.fewer[entries])]
    st.plotly_chart(
        fewer_tokens(
            sizes,
            curves,
            marked=(size, float(domain.fewer[at])),
            theme=frame.theme_type(),
            counts=f"tokens {changed}",
        ),
        key="fewer_tokens",
        theme=None,
        config=CONFIG,
        alt=f"Fewer tokens than with {base}, in per cent, over the tokens {changed}: at the end "
        f"{domain.fewer[-1]:.1f}% on {domain.title} and {general.fewer[-1]:.1f}% on general text.",
    )
    offer_pictures(
        [
            ChartPicture(
                chart="fewer_tokens",
                button="PNG",
                title=f"Fewer tokens than with {base}, over tokens {changed}",
                what=f"{title}: {domain.title}, and general text “{general.title}”; "
                f"{'cut' if domain.sizes is None else 'marked'} at {counted(size, 'token')}",
                file_name=f"{file_stem(title)}-fewer-tokens.png",
            )
        ],
        key="adapt_pictures",
    )


def draw_gain_costs(
    names: Sequence[str],
    domain: Gain,
    general: Gain,
    entries: Sequence[int],
    heights: Sequence[int],
) -> None:
    """Draw what entries of the gains cost and save, the base's first; `names` head the columns.

    `heights` are the rows of the embedding at each.
    """
    st.subheader("What they cost, and save", anchor=False)
    st.markdown(
        ":small[:gray[Enter your model’s figures: no prices are built in. What you "
        "leave empty is not shown.]]"
    )
    rates = ask_for_rates()
    usages = [
        Usage(int(domain.tokens[entry]), domain.n_bytes, height)
        for entry, height in zip(entries, heights, strict=True)
    ]
    rows = [
        *text_rows(domain.title, [int(domain.tokens[e]) for e in entries], rates, fair=False),
        *text_rows(general.title, [int(general.tokens[e]) for e in entries], rates, fair=False),
        *window_rows(usages, rates, (names[0], usages[0]), fair=False),
        *embedding_table_rows(heights, rates),
    ]
    figure_table(names, rows, caption="What the new tokens cost and save", key="adapt_costs")
    st.markdown(f":small[:gray[{COSTS_SAY}]]")


def _further_words(further: Further, title: str) -> tuple[str, str, str]:
    """Return the name, the number and the unit of what up to 100 further tokens gain."""
    n = further.stop - further.start
    shown = min(n, FURTHER)
    name = f"{'Last' if further.are_last else 'Next'} {counted(shown, 'token')}"
    gain = further.gain * shown / n if n else 0.0
    # At sizes far apart, 100 tokens are a share of those between two sizes.
    where = f"on {title}" if n == shown else f"(mean, {further.start:,} to {further.stop:,})"
    return name, f"{abs(gain):.2f}%", f"{'fewer' if gain >= 0 else 'more'} {where}"


def _fewer_or_more(fewer: float) -> tuple[str, str]:
    return f"{abs(fewer):.1f}%", "fewer tokens" if fewer > -0.05 else "more tokens"


def choose_general(
    usual: str, on_sample: Callable[[str], Gain], on_text: Callable[[Corpus], Gain], *, key: str
) -> Gain:
    """Draw the choice, which begins with the sample `usual`; return what is gained on it."""
    titles = {**general_titles(), _OWN_TEXT: _OWN_TEXT}
    picked = st.selectbox(
        "General text",
        [usual, *(id for id in titles if id != usual)],
        format_func=titles.__getitem__,
        key=f"{key}_general_{usual}",
        help="A text outside your domain: what the base already does well should not get worse.",
    )
    if picked != _OWN_TEXT:
        return on_sample(picked)
    text = text_field(_FIRST_TEXT, key=f"{key}_text")
    return on_text(Corpus.from_text(text)) if text else on_sample(usual)


def draw_kind_gains(
    gains: Sequence[KindGain], where: str, removed: tuple[int, int] | None = None
) -> None:
    """Draw a table of the kinds of new tokens, with what each saves on a text.

    `removed` are the number of removed tokens and how many tokens that costs.
    """
    total = sum(gain.saved for gain in gains)
    rows = [
        FigureRow(
            gain.kind[0].upper() + gain.kind[1:],
            (
                f"{gain.n_tokens:,}",
                f"{gain.saved:,}",
                share_text(gain.saved, total) if total else "–",
            ),
        )
        for gain in gains
    ]
    if removed is not None:
        n, more = removed
        rows.append(FigureRow("Removed tokens", (f"−{n:,}", f"{-more:,}".replace("-", "−"), "–")))
    st.subheader("What is gained, by kind", anchor=False)
    figure_table(
        ["New tokens", "Tokens saved", "Share"],
        rows,
        caption=f"Tokens saved on {where}, by the kind of the new tokens",
        key="adapt_kinds",
    )
    st.markdown(
        f":small[:gray[On {where}. A new token with a letter counts as a word, whatever else it "
        "holds.]]"
    )
