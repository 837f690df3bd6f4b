"""Pack a run for the merge player, once per run and block, and draw the languages of one.

A parity-aware run has languages: who picked, what each costs, how evenly.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from bpe_core.checks import times
from bpe_core.comparison import Usage
from bpe_core.errors import BpeError
from bpe_core.tokenizer import gpt2
from bpe_core.trainers import ParityHistory, steps_to_draw
from bpe_core.views import (
    PlayedRun,
    Ribbon,
    View,
    component_css,
    join_modules,
    zip_to_text,
)
from ui.components import merge_player
from ui.host import cached
from ui.look import (
    CONFIG,
    PALETTES,
    Theme,
    charts,
    counted,
    empty_figure,
    escaped,
    file_stem,
    name_rows,
    plain_markdown,
    plain_text,
    shorten_end,
)
from ui.run import csv_table, offer_csv, run_figures
from ui.shell import frame
from ui.storage import StoredRun, load_run

_FOLDER = Path(merge_player.__file__).parent
_MAX_TITLE_LENGTH = 200
_N_WEIGHED = 500
_MAX_RIBBON_BYTES = 1_800
_MAX_BYTES_COUNTED = 1_000_000
"""Of more text, GPT-2's tokens are not counted: the page would wait for them."""
MAX_BLOCKS = 40
"""The most blocks that a player may request at once."""


def replay_page(
    run: bytes,
    merges: bytes,
    *,
    title: str,
    lead: str = "",
    step: int = 0,
    text: str = "",
    words: Sequence[Sequence[int | str]] = (),
) -> str:
    """Return a page that plays a run packed by a `PlayedRun` as one block.

    `title` is the page's heading, `lead` the sentence below it, and `step` the number of merges
    done when it opens. `text` and `words` are the visitor's own words, as typed and as split by
    `PlayedRun.words`.

    Invisible characters of the title are written out, and it is isolated from the words after it.
    No part of the run is markup: the run is base64, everything else is escaped. The page's content
    security policy forbids all requests and every script except its own.
    """
    style = component_css(_FOLDER, *View.STYLES["merge_player"])
    page_style = (_FOLDER / "replay.css").read_text("utf-8")
    script = join_modules(_FOLDER / "replay.js")
    policy = (
        f"default-src 'none'; img-src data:; script-src {_hash_script(script)}; "
        f"style-src {_hash_script(style)} {_hash_script(page_style)}"
    )
    heading = html.escape(plain_text(title, _MAX_TITLE_LENGTH))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>\u2068{heading}\u2069: merge loop</title>
<style>{page_style}</style>
</head>
<body>
<main>
<h1>{heading}</h1>
<p>{lead}</p>
<p id="problem" role="alert"></p>
<noscript><p>The replay needs JavaScript, which is switched off.</p></noscript>
<div id="player"><template shadowrootmode="open"><style>{style}</style>
{(_FOLDER / "player.html").read_text("utf-8")}</template></div>
</main>
<script type="application/octet-stream" id="run" data-step="{step}" data-text="{html.escape(text)}"
 data-words="{html.escape(json.dumps(words))}">{zip_to_text(run)}</script>
<script type="application/octet-stream" id="merges">{zip_to_text(merges)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def _hash_script(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def lead_sentence(stored: StoredRun) -> str:
    """Return what each merge of a run does."""
    where, history = "", stored.run.parity
    if history is not None:
        first = "in all languages at first, then " if history.hybrid_merges else ""
        where = f" {first}in the language whose turn it is"
    return f"Each merge fuses the two neighbouring symbols that occur together most often{where}."


def player_key(run_id: str) -> str:
    """Return the key of the player for a run."""
    return f"merge_player_{run_id}"


@cached()
def player_run(run_id: str) -> bytes:
    """Return what the merge player needs of a run at every step."""
    return _packed(run_id, _starts(run_id))


def player_block(run_id: str, wanted: object, step: int) -> bytes:
    """Return the merges of the blocks that the player requested, else of the one at `step`.

    The browser sends `wanted`, the numbers of the first and the last block; anything else, and more
    than it may request at once, is ignored.
    """
    return _block(run_id, *_merges_sent(run_id, wanted, step))


def replay(run_id: str, step: int, text: str) -> str:
    """Return a page that plays a run offline, from `step`, with a visitor's own words."""
    stored = load_run(run_id)
    try:
        words = player_words(run_id, text)
    except BpeError:
        text, words = "", []
    n_merges = len(stored.run.merges)
    start, stop = PlayedRun.replayed_merges(n_merges, step)
    return replay_page(
        _packed(run_id, PlayedRun.replay_starts(start, stop, n_merges)),
        _block(run_id, start, stop),
        title=stored.title,
        lead=lead_sentence(stored),
        step=step,
        text=text,
        words=words,
    )


def replay_size(run_id: str, step: int) -> int:
    """Estimate the size of a replay in bytes from merges in its middle."""
    start, stop = PlayedRun.replayed_merges(len(load_run(run_id).run.merges), step)
    middle = (start + stop) // 2
    first, last = max(start, middle - _N_WEIGHED // 2), min(stop, middle + _N_WEIGHED // 2)
    times = (stop - start) / max(last - first, 1)
    return _size_without_merges(run_id) + round(times * _merges_size(run_id, first, last))


def reported_step(report: object, n_merges: int) -> int | None:
    """Return the number of merges that a player reported; None if it is not one of this run.

    A browser may send anything: 1e999 in JSON arrives as infinity.

    >>> [reported_step(report, 9) for report in (7.0, 10, float("inf"), "7")]
    [7, None, None, None]
    """
    if isinstance(report, int | float) and 0 <= report <= n_merges:
        return int(report)
    return None


def requested_blocks(request: object, n_blocks: int) -> tuple[int, int] | None:
    """Return the first and the last block that a player requested; None for anything else.

    >>> [requested_blocks(request, 9) for request in ([1, 2.0], [1, 9], [2, 1], 1)]
    [(1, 2), None, None, None]
    """
    match request:
        case [int() | float() as first, int() | float() as last] if (
            0 <= first <= last < n_blocks and last - first < MAX_BLOCKS
        ):
            return int(first), int(last)
        case _:
            return None


def player_words(run_id: str, text: str) -> list[list[int | str]]:
    """Split a visitor's text into a run's pre-tokens; raises BpeError if it cannot be split."""
    return _player(run_id).words(text)


def _merges_sent(run_id: str, wanted: object, step: int) -> tuple[int, int]:
    starts = _starts(run_id)
    first, last = requested_blocks(wanted, len(starts)) or (bisect_right(starts, step) - 1,) * 2
    n_merges = len(load_run(run_id).run.merges)
    return starts[first], starts[last + 1] if last + 1 < len(starts) else n_merges


@cached()
def _size_without_merges(run_id: str) -> int:
    page = replay_page(player_run(run_id), b"", title=load_run(run_id).title)
    return len(page.encode())


@cached()
def _merges_size(run_id: str, start: int, stop: int) -> int:
    return len(zip_to_text(_traced(run_id, start, stop)))


def _player(run_id: str) -> PlayedRun:
    return PlayedRun(load_run(run_id).run, player_key(run_id))


def _traced(run_id: str, start: int, stop: int) -> bytes:
    return _player(run_id).pack_merges(start, stop)


_block = cached()(_traced)


@cached()
def _starts(run_id: str) -> list[int]:
    return _player(run_id).block_starts


def _packed(run_id: str, starts: Sequence[int]) -> bytes:
    opening = run_figures.opening_step(run_id)
    end = find_end(load_run(run_id))
    return _player(run_id).pack(opening=opening, starts=starts, end=end)


def find_end(stored: StoredRun) -> dict[str, object]:
    """Return what the player's last frame shows: the text's beginning, and three ways on."""
    end: dict[str, object] = {"next": [asdict(each) for each in next_steps(stored)]}
    text = stored.training_text
    if text is not None and text.corpus.documents:
        # A text that is too strange for the tokenizer has no ribbon.
        with suppress(BpeError):
            beginning = Ribbon.beginnings(text.corpus.documents[:1], _MAX_RIBBON_BYTES)
            end["ribbon"] = Ribbon.pack(stored.run.tokenizer, *beginning)
    return end


@dataclass(frozen=True, slots=True)
class NextStep:
    """A way on from the last frame: its name, a sentence with its figures, and its address."""

    name: str
    note: str
    href: str


def next_steps(stored: StoredRun) -> list[NextStep]:
    """Return the ways on from the end of a run."""
    run, held_out = stored.run, stored.held_out
    tokens = stored.held_out_tokens_after
    see, compare = "Type any text.", "The same text, side by side."
    if tokens is not None and tokens[0]:
        n_tokens = counted(int(tokens[-1]), "token")
        see = f"A text it never saw: {counted(held_out.n_bytes, 'byte')}, {n_tokens}."
        if held_out.n_bytes <= _MAX_BYTES_COUNTED:
            compare = f"GPT-2 needs {Usage.of(held_out, gpt2()).n_tokens:,} for that text."
    if run.stop_reason == "vocab-size":
        count = run.merges[-1].count if run.merges else None
        last = "" if count is None else f"The last pair still occurred {times(count)}. "
        further = f"{last}A larger size goes on."
    elif run.stop_reason == "cancelled":
        further = "It was stopped early."
    else:
        further = "This text has no pair left to join. Give it more text."
    return [
        NextStep("See it cut your text", see, f"token_boundaries?run={stored.id}"),
        NextStep("Compare with GPT-2", compare, f"compare?run={stored.id}"),
        NextStep("Train further", further, f"train?run={stored.id}"),
    ]


_N_BINS = 60
_ROW_HEIGHT = 17
_MAX_NAME = 18
_MAX_LANGUAGES = 100
_COLUMNS = ("language", "before any merge", "plain BPE", "with parity", "merges picked")


def show_languages(stored: StoredRun) -> None:
    """Draw the languages of a parity-aware run; nothing for any other."""
    history = stored.run.parity
    if history is None:
        return
    theme = frame.theme_type()
    with st.container(key="parity"):
        st.header("Which language picked each merge", anchor=False)
        st.markdown(history.sentence())
        st.plotly_chart(picks_ribbon(history, theme), theme=None, config=CONFIG, key="parity_picks")
        st.header("What each language costs", anchor=False)
        lead = "The longest text picks next, so the lines meet."
        if history.plain:
            lead += " Circles: the same text under plain BPE of the same size."
        st.markdown(f":gray[{lead}]")
        st.plotly_chart(
            lengths_chart(history, theme), theme=None, config=CONFIG, key="parity_costs"
        )
        _show_table(stored, history)


def picks_ribbon(history: ParityHistory, theme: Theme) -> go.Figure:
    """Draw a row for each language, darker where it picked more of the merges."""
    colours = PALETTES[theme]
    names, shares, edges = history.picks(_N_BINS)
    names, shares = names[:_MAX_LANGUAGES], shares[:_MAX_LANGUAGES]
    figure = empty_figure(theme, height=80 + _ROW_HEIGHT * len(names))
    figure.add_heatmap(
        x=edges.tolist(),
        y=list(range(len(names))),
        z=np.sqrt(shares).tolist(),
        customdata=shares.tolist(),
        text=[[escaped(name)] * shares.shape[1] for name in names],
        hovertemplate="%{text}: %{customdata:.0%} of the merges near %{x:,.0f}<extra></extra>",
        colorscale=[[0, colours.panel], [1, colours.primary]],
        zmin=0,
        zmax=float(np.sqrt(shares).max(initial=0)) or 1,
        showscale=False,
        ygap=1,
    )
    shown = [shorten_end(name, _MAX_NAME) for name in names]
    name_rows(figure, shown, {"color": colours.text})
    charts.merges_axis(figure, int(edges[-1]))
    return figure


def lengths_chart(history: ParityHistory, theme: Theme) -> go.Figure:
    """Draw each language's tokens over the merges; two are named, the longest and the shortest."""
    colours = PALETTES[theme]
    lengths, n_merges = history.lengths, history.lengths.shape[1] - 1
    steps = steps_to_draw(n_merges, 200)
    figure = empty_figure(theme, height=320)
    longest, shortest = int(lengths[:, 0].argmax()), int(lengths[:, 0].argmin())
    named = {longest: colours.other, shortest: colours.primary}
    order = sorted(range(len(lengths)), key=lambda number: number in named)
    for number in order:
        name, tokens = escaped(history.languages[number]), lengths[number][steps]
        figure.add_scatter(
            x=steps.tolist(),
            y=tokens.tolist(),
            mode="lines",
            line={"width": 2.5 if number in named else 1, "color": named.get(number, colours.bar)},
            hovertemplate=f"{name}: %{{y:,}} tokens after %{{x:,}} merges<extra></extra>",
        )
    if history.plain:
        figure.add_scatter(
            x=[n_merges] * len(order),
            y=[history.plain[number] for number in order],
            text=[escaped(history.languages[number]) for number in order],
            mode="markers",
            marker={
                "size": 7,
                "symbol": "circle-open",
                "color": [named.get(number, colours.muted) for number in order],
            },
            cliponaxis=False,
            hovertemplate="%{text}: %{y:,} tokens under plain BPE<extra></extra>",
        )
    charts.tokens_axis(figure, int(lengths.max(initial=1)))
    charts.label_ends(
        figure,
        [
            (
                shorten_end(history.languages[number], 12),
                float(lengths[number, -1]),
                colour,
            )
            for number, colour in named.items()
        ],
    )
    charts.merges_axis(figure, n_merges)
    charts.name_value_axis(figure, "tokens of each text", theme)
    return figure


def _show_table(stored: StoredRun, history: ParityHistory) -> None:
    rows = history.rows()
    with st.expander("Each language in figures", type="compact"):
        lines = [_COLUMNS, ("---", *["--:"] * (len(_COLUMNS) - 1))]
        lines += [
            (plain_markdown(name), *("–" if each is None else f"{each:,}" for each in figures))
            for name, *figures in rows
        ]
        st.markdown("\n".join("| " + " | ".join(line) + " |" for line in lines))
        offer_csv(
            lambda: csv_table(_COLUMNS, rows),
            f"{file_stem(stored.title)}-languages.csv",
            key="parity_csv",
        )
        if not history.has_development:
            st.markdown(
                ":gray[:small[Measured on the training text. Equal numbers of tokens are fair only "
                "where the texts say the same.]]"
            )
