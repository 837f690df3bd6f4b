"""Infer what a tokenizer was trained on, in the background, and draw the shares."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.comparison import numbered
from bpe_core.corpus import Corpus
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import (
    Mixture,
    mixture,
    shipped_samples,
)
from ui.components import (
    ChartPicture,
    SymbolRow,
    Tile,
    Tiles,
    draw_chart_pictures,
    draw_symbol_rows,
    verdict,
)
from ui.host import cached, errors_shown
from ui.look import (
    CONFIG,
    PALETTES,
    Theme,
    counted,
    empty_figure,
    file_stem,
    name_rows,
    plain_text,
    set_axis,
    shorten_end,
)
from ui.run import csv_table, offer_csv
from ui.shell import choose_one, frame, submitted_files, upload_files
from ui.tokenizers import Member, shelf
from ui.work import Progress, Status, Task, WorkKind, queue, read_beginning, show_work

KINDS: Final = "Kinds of text"
LANGUAGES: Final = "25 languages"
OWN: Final = "Your own"
_N_STEPS: Final = 120
_MAX_ROWS: Final = 12
_LONGEST_NAME: Final = 18
MIXTURE: Final = WorkKind[Progress, Mixture]("mixture", max_per_visitor=4)


@dataclass(frozen=True, slots=True)
class Samples:
    """A text for each category."""

    id: str
    """Equal for equal samples."""
    texts: Mapping[str, Corpus]
    note: str
    """What to know about them."""


def choose_samples() -> Samples | None:
    """Draw the choice of samples; return None while there are fewer than two."""
    chosen = choose_one("Samples", [KINDS, LANGUAGES, OWN], key="samples", shows_label=True)
    if chosen == OWN:
        return _own_samples()
    return _shipped(chosen)


@cached(spinner="Reading the samples")
def _shipped(chosen: str) -> Samples:
    texts = shipped_samples("languages" if chosen == LANGUAGES else "kinds")
    if chosen == LANGUAGES:
        note = (
            "These samples have a few sentences for each language, so they judge only the first "
            "merges."
        )
    else:
        note = "The texts that come with this app stand for their kinds."
    return Samples(chosen, texts, note)


def _own_samples() -> Samples | None:
    st.markdown(
        ":gray[Upload a text file for each kind of text, such as German.txt and Python.txt. The "
        f"file’s name is the name of its kind. The limit is {Mixture.MAX_CATEGORIES} files. The "
        f"first {Mixture.MAX_CHARACTERS:,} characters of each are read.]"
    )
    uploads = upload_files("Samples", key="detective_files", label_visibility="collapsed")
    if not submitted_files(uploads):
        uploads = []
    if len(uploads) > Mixture.MAX_CATEGORIES:
        st.warning(
            f"These are {len(uploads)} files. Remove all but {Mixture.MAX_CATEGORIES} of them."
        )
        return None
    names: list[str] = []
    for upload in uploads:
        stem = upload.name.rpartition(".")[0]
        names.append(upload.name if stem in names else stem or upload.name)
    texts: dict[str, Corpus] = {}
    for name, upload in zip(numbered(names), uploads, strict=True):
        with errors_shown():
            texts[name] = _read(upload.file_id, upload)
    if len(texts) < 2:
        st.info("Upload two or more samples. Their shares of the training text are shown here.")
        return None
    known = repr([(name, corpus.fingerprint) for name, corpus in texts.items()])
    hashed = hashlib.sha256(known.encode()).hexdigest()
    return Samples(hashed, texts, "Your files stand for their kinds.")


@cached()
def _read(file_id: str, _upload: UploadedFile) -> Corpus:
    """Return the beginning of a file, which is read once for each upload."""
    _upload.seek(0)
    return read_beginning(
        [_upload], Mixture.MAX_CHARACTERS, on_progress=lambda _: None, on_wait=lambda: None
    )[0]


def draw_limits(member: Member) -> None:
    """Say what the merges of a tokenizer that was not trained here do not tell."""
    if member.key == shelf.OWN or member.key.startswith(shelf.RUN_PREFIX):
        return
    st.markdown(
        ":small[:gray[A published tokenizer has learned from many more kinds of text than a few "
        "samples stand for, so look at the fit first. Its publisher may have begun with the merges "
        "of another one: the first 100,000 of Llama 3 are those of GPT-4, and tell what GPT-4’s "
        "was trained on.]]"
    )


def infer(tokenizer: Tokenizer, samples: Samples) -> Status[Progress, Mixture]:
    """Return the status of the inference, starting it if needed."""

    def work(task: Task[Progress]) -> Mixture:
        def follow(_: str, done: int, total: int) -> None:
            task.report(Progress(done, total))

        return mixture(
            tokenizer,
            samples.texts,
            n_steps=_N_STEPS,
            on_progress=follow,
            should_stop=lambda: task.is_cancelled,
        )

    return queue.begin(MIXTURE, f"{tokenizer.fingerprint} {samples.id}", work, is_short=False)


def draw_mixture(name: str, samples: Samples, status: Status[Progress, Mixture]) -> None:
    """Draw the shares and the merges that say so, or how far the inference is."""
    show_work(status, unit="Steps", what="inference", key="mixture")
    found = status.result
    if found is None:
        return
    order = sorted(range(len(found.shares)), key=lambda place: -found.shares[place])
    sentence, aside = leading_sentence(found, order, samples.note)
    verdict(sentence, aside, key="detective_verdict")
    if not found.fits:
        st.warning(
            f"These samples do not fit. They explain only {found.fit:.0%} of the merges, so a kind "
            "of text is missing, or the samples are of other kinds. Do not rely on the shares.",
            icon=":material/warning:",
        )
    st.space("small")
    shown = order[:_MAX_ROWS]
    st.plotly_chart(
        share_bars(found, shown, frame.theme_type()),
        key="mixture_bars",
        theme=None,
        config=CONFIG,
        alt="The inferred share of each kind of text, with its interval.",
    )
    picture = ChartPicture(
        "mixture_bars",
        "PNG",
        "Inferred shares of the training text",
        name,
        f"{file_stem(name)}.png",
    )
    with st.container(horizontal=True):
        offer_csv(lambda: _csv(found), "mixture.csv", key="mixture_csv")
        draw_chart_pictures([picture], key="mixture_picture")
    st.header("The merges that say so", anchor=False)
    st.markdown(
        ":gray[Most occurrences of their pairs are in one kind of text, so without it they would "
        "not have been merged this early. Earlier merges come first.]"
    )
    rows = [
        SymbolRow(
            plain_text(found.categories[place]),
            (
                Tiles(
                    tuple(
                        Tile(each.token, each.rank)
                        for each in found.witnesses[found.categories[place]]
                    )
                ),
            ),
        )
        for place in shown
        if found.witnesses[found.categories[place]]
    ]
    draw_symbol_rows(rows, key="witnesses", caption="The merges that speak for each kind of text")


def leading_sentence(
    found: Mixture, order: list[int], note: str
) -> tuple[list[tuple[str, bool]], str]:
    """Return the page's first sentence, as pieces with whether each is bold, and an aside."""
    first = order[0]
    share = f"{found.shares[first]:.0%}"
    interval = f"{found.low[first]:.0%} to {found.high[first]:.0%}"
    aside = (
        f"Read from {found.n_steps:,} of the first {counted(found.n_merges, 'merge')}, which these "
        f"samples explain to {found.fit:.0%}. {note}"
    )
    if not found.fits:
        return [
            ("Of these samples, ", False),
            (plain_text(found.categories[first]), True),
            (
                " comes nearest to the text that it was trained on, but they do not explain it.",
                False,
            ),
        ], aside
    return [
        ("By the order of its merges, ", False),
        (f"{share} ({interval})", True),
        (" of the text that it was trained on is like ", False),
        (plain_text(found.categories[first]), True),
        (".", False),
    ], aside


def share_bars(found: Mixture, order: list[int], theme: Theme) -> go.Figure:
    """Draw a bar for each category with its interval, the largest share first."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=76 + 40 * len(order), right=132, top=8)
    shares = [100 * float(found.shares[place]) for place in order]
    lows = [100 * float(found.low[place]) for place in order]
    highs = [100 * float(found.high[place]) for place in order]
    colour = colours.primary if found.fits else colours.bar
    figure.add_bar(
        x=shares,
        y=list(range(len(order))),
        orientation="h",
        marker={"color": colour, "cornerradius": 2},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - share for high, share in zip(highs, shares, strict=True)],
            "arrayminus": [share - low for low, share in zip(lows, shares, strict=True)],
            "color": colours.text,
            "thickness": 1.5,
            "width": 5,
        },
        hoverinfo="skip",
        width=0.55,
    )
    for row, (share, low, high) in enumerate(zip(shares, lows, highs, strict=True)):
        figure.add_annotation(
            x=1,
            xref="paper",
            y=row,
            text=f"<b>{share:.1f}%</b> {low:.1f}–{high:.1f}",
            xanchor="left",
            xshift=8,
            showarrow=False,
            font={"color": colours.text},
        )
    names = [
        f"{shorten_end(plain_text(found.categories[place]), _LONGEST_NAME)} " for place in order
    ]
    name_rows(figure, names, {"color": colours.text})
    most = max([*highs, 10.0])
    set_axis(figure, "x", range=[0, most * 1.04], ticksuffix="%", title={"text": "of the bytes"})
    figure.update_layout(showlegend=False)
    return figure


def _csv(found: Mixture) -> bytes:
    rows = found.to_dict()["categories"]
    columns = ("category", "share", "low", "high", "sample_bytes")
    return csv_table(columns, [[row[column] for column in columns] for row in rows])
