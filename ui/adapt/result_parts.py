"""What came of adapting: what new tokens gain and cost, and the files that a model needs to follow.

Gains are measured on held-out text and on a general one. The files are those that the base was
opened from, with the adapted vocabulary, and the lines that fit the embeddings of a model to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from bpe_core.adapting import Adapted, Advice, KindGain
from bpe_core.comparison import IntervalWords, Usage
from bpe_core.corpus import Corpus, load_sample
from bpe_core.errors import BpeError
from bpe_core.formats import (
    FOLDER,
    ROW_FILES,
    adapted_files,
    dumps,
    is_ranks,
    is_sidecar,
    row_files,
)
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import TrainingRun
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
from ui.run import draw_figure, offer_downloads, offer_pictures, show_encoding_command, zipped
from ui.shell import frame
from ui.storage import BaseName, StoredRun, load_run
from ui.tokenizers import (
    COSTS_SAY,
    GPT2,
    ask_for_rates,
    embedding_table_rows,
    shelf,
    text_rows,
    window_rows,
)

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
        tokens = run.tokens_after_new(held_out, tokens)
        return Gain(title, held_out.n_bytes, read_only(tokens))
    return Gain(title, run.corpus_bytes, training_tokens(run))


def training_tokens(run: TrainingRun) -> NDArray[np.int64]:
    """Return int64[n + 1], read-only: the tokens of the training text after each new token."""
    return read_only(run.tokens_after_new())


_WORTH: Final[Mapping[str, float]] = {
    "0.05%": 0.0005,
    "0.1%": Advice.WORTH,
    "0.5%": 0.005,
    "1%": 0.01,
}


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
    return Advice.of(_run, _gain.tokens, worth)


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
    return IntervalWords.measure(_held_out, _tokenizer, _base)


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
    tokens = run.tokens_after_new(corpus)
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


MODEL_LINES: Final = """\
import json
from pathlib import Path
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("the base’s model")
rows = json.loads(Path("embedding_rows.json").read_text())
layers = model.get_input_embeddings, model.get_output_embeddings
before = [layer().weight.data.clone() for layer in layers]
model.resize_token_embeddings(len(rows["old_ids"]), mean_resizing=False)
for layer, old in zip(layers, before):
    for id, old_id in enumerate(rows["old_ids"]):
        parts = rows["parts"].get(str(id), [old_id])
        layer().weight.data[id] = old[parts].mean(0)
"""
"""Gives each row of the embeddings its old row, or the mean of the rows that spell it."""
_RANKS_SAY: Final = (
    "A file of ranks holds no special tokens. A program that numbers them itself, as Meta’s code "
    "for Llama 3 does from the last rank on, gives them different ids from those here; after "
    "extending, those are ids of new tokens. Use the folder for transformers, or give your program "
    "the ids."
)
OTHER_FORMATS: Final = "adapt_other_formats"
_MAX_LABEL_LENGTH: Final = 48
_MAX_FILE_NAME_LENGTH: Final = 120
_OF_ROWS: Final = (
    "int32, the base’s id of each id; −1 for a new token",
    "int32, the base’s ids that spell each id, filled up with −1",
    "both as JSON",
)
"""What each of the files with rows holds."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An adapted tokenizer, made only if a file of it is wanted."""

    id: str
    """The same for the same base and adapted tokenizer only."""
    base: Tokenizer
    make: Callable[[], Adapted]


def offer_files(stored: StoredRun, kept: int) -> None:
    """Draw the downloads of an extended run, cut at a number of new tokens."""
    st.header("Files for your model", anchor=False)
    base = stored.run.given_base
    if base is None or stored.base is None:
        return
    run = stored.run
    offered = Offered(
        f"{stored.id} {kept}", base, lambda: Adapted.of(base, run.with_new_tokens(kept))
    )
    offer_adapted(offered, stored.base, base_name(stored), stored.title, key="adapt_files")
    others = st.expander("Other formats", key=OTHER_FORMATS, on_change="rerun")
    if others.open:
        with others:
            offer_downloads(run.with_new_tokens(kept), stored, key="adapt")


def offer_adapted(offered: Offered, base: BaseName, name: str, title: str, *, key: str) -> None:
    """Draw the base's own files with the adapted vocabulary, the rows, and the lines of Python."""
    _offer_own_format(offered, base, name, file_stem(title), key)
    st.markdown(
        "A model needs a row of its embedding for each id. These files say which old rows each "
        "new row starts from: its own, or the mean of its parts."
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for file, what in zip(ROW_FILES, _OF_ROWS, strict=True):
            st.download_button(
                file,
                _rows(offered, file),
                file_name=file,
                mime="application/octet-stream",
                help=what,
                on_click="ignore",
                key=f"{key}_{file}",
            )
        with st.popover("Resize the embeddings", type="tertiary", key=f"{key}_lines"):
            st.markdown(
                "Run this in the folder of embedding_rows.json. Then train the new rows on your "
                "text: a mean is only a start."
            )
            st.code(MODEL_LINES, language="python", wrap_lines=True)


def files_label(files: Collection[str]) -> str:
    """Return the label of the button for some files, in Markdown; their names are user input.

    >>> files_label(["vocab.json", "merges.txt"])
    'vocab\\\\.json \\\\+ merges\\\\.txt'
    """
    names = " + ".join(files)
    return plain_markdown(names) if len(names) <= _MAX_LABEL_LENGTH else "Tokenizer files"


def without_folders(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files by their names alone, so no archive of them writes elsewhere.

    Further chat templates keep the folder that is theirs.

    >>> list(without_folders({"../../vocab.json": b"", "C:\\\\merges.txt": b"", "..": b""}))
    ['vocab.json', 'merges.txt', 'file']
    """
    return {name if is_sidecar(name) else _name_alone(name): data for name, data in files.items()}


def _name_alone(name: str) -> str:
    last = plain_text(re.split(r"[/\\:]", name)[-1], _MAX_FILE_NAME_LENGTH)
    return last if last.strip(". ") else "file"


def _offer_own_format(offered: Offered, base: BaseName, name: str, stem: str, key: str) -> None:
    try:
        # Written now: a click on the button could no longer explain what is wrong.
        found = _own_format(base.key, offered.id, offered)
    except BpeError as error:
        found = str(error)
    if isinstance(found, str):
        st.warning(plain_markdown(f"Not in the format of {name}. {found}", 1_000))
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for n, (names, data) in enumerate(found):
            st.download_button(
                files_label(names),
                data,
                file_name=_file_name(names, stem),
                mime="application/octet-stream",
                on_click="ignore",
                key=f"{key}_own_{n}",
            )
        is_gguf = any(each.endswith(".gguf") for names, _ in found for each in names)
        what, rest = "The files of", "; everything else in them is unchanged"
        if is_gguf:
            what, rest = "The file of", " and without tensors; its other keys are unchanged"
        st.markdown(
            f":gray[{what} {plain_markdown(name)} with this vocabulary{rest}.]",
            width="content",
        )
    show_encoding_command(_file_name(found[0][0], stem), offered.base)
    if offered.base.special_tokens and any(
        is_ranks(dict.fromkeys(names, data)) for names, data in found
    ):
        st.warning(_RANKS_SAY)


def _file_name(names: tuple[str, ...], stem: str) -> str:
    """Return the name of a download of these files."""
    return f"{stem}.zip" if len(names) > 1 else next(iter(names))


@cached(spinner="Writing the tokenizer’s files")
def _own_format(
    key: str, id: str, _offered: Offered
) -> tuple[tuple[tuple[str, ...], bytes], ...] | str:
    """Return the downloads, or why there are none.

    A download is the names of the files, and the only file or an archive of all. A file of ranks
    comes after a folder for transformers, which holds the special tokens too. The downloads depend
    on the key of the base and on what is offered alone.
    """
    adapted = _offered.make()
    files = read_base_files(BaseName(key, ""), adapted.base)
    try:
        written = without_folders(adapted_files(adapted, files))
    except BpeError as error:
        return str(error)
    data = zipped(written) if len(written) > 1 else next(iter(written.values()))
    own = (tuple(written), data)
    if not is_ranks(written):
        return (own,)
    with suppress(BpeError):  # if that format cannot hold the tokenizer
        folder = dumps(adapted.tokenizer, "transformers")
        return (tuple(folder), zipped(folder, f"{FOLDER}/")), own
    return (own,)


def _rows(offered: Offered, file: str) -> Callable[[], bytes]:
    return lambda: row_files(offered.make())[file]


def read_base_files(base: BaseName, tokenizer: Tokenizer) -> Mapping[str, bytes]:
    """Return a tokenizer's own files, as file name -> bytes.

    A run has none, and gets a tokenizer.json. Raises BpeError if files are damaged or missing.

    >>> from bpe_core.tokenizer import gpt2
    >>> list(read_base_files(BaseName("gpt2", "GPT-2"), gpt2()))
    ['vocab.json', 'merges.txt']
    """
    if base.key == GPT2:
        return dumps(tokenizer, "gpt2")
    return shelf.stored_files(base.key) or dumps(tokenizer, "huggingface")
