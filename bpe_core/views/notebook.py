"""Show tokens, comparisons and runs in a notebook, drawn by the app's components.

Where no script runs, they are drawn as plain HTML, and so are summaries.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import Final

import numpy as np

from bpe_core.checks import counted, printable
from bpe_core.comparison import Stretches
from bpe_core.errors import ConfigError
from bpe_core.tokenizer import (
    AllowedSpecial,
    Boundaries,
    Encoder,
    NamedEncoder,
    Tokenizer,
    boundaries,
    check_text,
)
from bpe_core.trainers import TrainingRun
from bpe_core.types import Merge
from bpe_core.view import (
    COMPONENTS,
    View,
)
from bpe_core.views.packing import (
    PlayedRun,
    find_longest_word,
    pack_boundaries,
    pack_spans,
)

MAX_TOKENS: Final = 50_000
"""The most tokens of a text that are shown: all of them are stored in the notebook."""
MAX_COMPARED: Final = 100_000
"""The most characters of a text that are shown under several tokenizers."""
MAX_WORDS: Final = 200
"""The most characters of one's own words in a player, as many as its field takes."""

_MAX_TOKENS: Final = 300
_MAX_MERGES: Final = 12
_MAX_SPECIAL: Final = 5
_MAX_LENGTH: Final = 80
_COLOUR = re.compile(r"--token-\d: light-dark\((#\w+)")
_RUNNING: Final = "padding: 2px 0; border-left: 1px solid #8a8378; white-space: pre-wrap;"
_TILE: Final = (
    "padding: 1px 5px; border: 1px solid #8a8378; border-radius: 4px; white-space: pre; "
    "font-family: monospace;"
)


def view_tokens(
    text: str, encoder: Encoder, allowed_special: AllowedSpecial = (), *, name: str = ""
) -> View:
    """Return a view of a text's tokens, at most `MAX_TOKENS` of them; raises as `segments` does.

    >>> from bpe_core.tokenizer import gpt2
    >>> view_tokens("The <b>", gpt2()).still.count("&lt;")
    1
    """
    every = boundaries(text, encoder, allowed_special, max_starts=MAX_TOKENS + 8)
    found, part = every.first(MAX_TOKENS, text)
    n_tokens, n_shown = _count_tokens(every), _count_tokens(found)
    note = "" if n_shown == n_tokens else f"Only the first {n_shown:,} of {n_tokens:,} are shown."
    data = {
        "text": part,
        "packed": pack_boundaries(found, encoder),
        "stamp": "",
        "chosen": find_longest_word(found, encoder),
        "name": name or "this tokenizer",
        "special_note": note,
        "code": ["# with `tokenizer` as in the notebook"],
        "code_options": f", allowed_special={allowed_special!r}" if allowed_special else "",
        "border_terms": [],
        "mark_terms": [],
    }
    drawn = draw_tokens(part, found, encoder, n_tokens)
    return View(
        "token_view", counted(n_tokens, "token"), drawn, {"data": json.dumps(data).encode()}
    )


def view_comparison(text: str, encoders: Sequence[NamedEncoder]) -> View:
    """Return a view of a text under several tokenizers, of at most `MAX_COMPARED` characters.

    >>> from bpe_core.tokenizer import gpt2
    >>> view_comparison("hug", [NamedEncoder("GPT-2", gpt2()), NamedEncoder("bytes", gpt2())])
    <View of 3 characters under 2 tokenizers>
    """
    part = text[:MAX_COMPARED]
    is_whole = len(part) == len(text)
    note = "" if is_whole else f"the first {len(part):,} of {len(text):,} characters"
    read = [boundaries(part, each.encoder) for each in encoders]
    readings = [
        {
            "name": each.name,
            "packed": pack_boundaries(found, each.encoder),
            "n_tokens": _count_tokens(found),
            "badge": "",
            "exact": True,
        }
        for each, found in zip(encoders, read, strict=True)
    ]
    data = {
        "text": part,
        "readings": readings,
        "spans": pack_spans(part, Stretches.between([found.byte_ends for found in read], part)),
        "source": note,
    }
    drawn = "".join(
        draw_tokens(part, found, each.encoder, _count_tokens(found), each.name)
        for each, found in zip(encoders, read, strict=True)
    )
    summary = f"{counted(len(part), 'character')} under {counted(len(encoders), 'tokenizer')}"
    return View("token_compare", summary, drawn, {"data": json.dumps(data).encode()})


def view_run(run: TrainingRun, step: int | None = None, words: str = "") -> View:
    """Return a player of a run's merges, opened after `step` merges, with one's own `words`.

    Of a long run, the race and the reasons are included only for the merges around the step.

    >>> from bpe_core.trainers import train
    >>> view_run(train(["hug hugs"], vocab_size=259))
    <View of 2 merges>
    """
    check_text(words)
    if len(words) > MAX_WORDS:
        raise ConfigError(
            f"Expected at most {MAX_WORDS} characters of words, got {len(words):,}. To see the "
            "tokens of a longer text, use run.tokenizer.view(text)."
        )
    n_merges = len(run.merges)
    opening = run.opening_step
    step = opening if step is None else step
    start, stop = PlayedRun.replayed_merges(n_merges, step)
    # Two players on a page with one key would take each other's messages.
    told = repr((run.tokenizer.fingerprint, run.corpus_sha256, step, words))
    player = PlayedRun(run, hashlib.sha256(told.encode()).hexdigest()[:16])
    opened = {"step": step, "text": words, "words": player.words(words)}
    starts = PlayedRun.replay_starts(start, stop, n_merges)
    parts = {
        "html": (COMPONENTS / "merge_player" / "player.html").read_bytes(),
        "run": player.pack(opening=opening, starts=starts),
        "merges": player.pack_merges(start, stop),
        "opened": json.dumps(opened).encode(),
    }
    return View("merge_player", counted(n_merges, "merge"), draw_merges(run), parts)


def _count_tokens(found: Boundaries) -> int:
    return int(np.count_nonzero(found.ids >= 0))


def draw_tokens(
    text: str, found: Boundaries, encoder: Encoder, n_tokens: int, name: str = ""
) -> str:
    """Return the first tokens of a text as coloured HTML; `n_tokens` is how many there are in all.

    >>> from bpe_core.tokenizer import gpt2
    >>> from bpe_core.tokenizer import boundaries
    >>> "&lt;" in draw_tokens("<b", boundaries("<b", gpt2()), gpt2(), 2)
    True
    """
    data, start = text.encode(), 0
    drawn: list[str] = []
    ends = found.byte_ends[:_MAX_TOKENS].tolist()
    for id, end in zip(found.ids[:_MAX_TOKENS].tolist(), ends, strict=True):
        # The marker of a word's end covers no text.
        drawn.append(_draw_running(data[start:end] or encoder.vocab[id], id))
        start = end
    left = n_tokens - _MAX_TOKENS
    more = f"<p>and {counted(left, 'more token')}</p>" if left > 0 else ""
    title = f"<b>{_line(name)}</b>: " if name else ""
    count = f"<p>{title}{n_tokens:,} token{'s' * (n_tokens != 1)}</p>"
    line = f'<p style="font-family: monospace; line-height: 2;">{"".join(drawn)}</p>'
    return count + line + more


def draw_merges(run: TrainingRun) -> str:
    """Return a run's first merges as an HTML table.

    >>> from bpe_core.trainers import train
    >>> draw_merges(train(["hug hugs"], vocab_size=259)).count("<tr>")
    3
    """
    vocab = run.tokenizer.vocab
    rows = [
        [
            str(merge.rank + 1),
            f"{_draw_tile(vocab[merge.left])} {_draw_tile(vocab[merge.right])}",
            _draw_tile(vocab[merge.id], merge.id),
            "" if merge.count is None else f"{merge.count:,}",
        ]
        for merge in run.merges[:_MAX_MERGES]
    ]
    left = len(run.merges) - _MAX_MERGES
    more = f"<p>and {counted(left, 'more merge')}</p>" if left > 0 else ""
    return _table(rows, ("Merge", "Pair", "Token", "Occurrences")) + more


def summarize_tokenizer(tokenizer: Tokenizer) -> str:
    """Return a tokenizer's properties and first merges as an HTML table.

    >>> from bpe_core.tokenizer import gpt2
    >>> "50,257" in summarize_tokenizer(gpt2())
    True
    """
    return _table(_properties(tokenizer, tokenizer.merges))


def summarize_run(run: TrainingRun) -> str:
    """Return a run's properties and first merges as an HTML table.

    >>> from bpe_core.trainers import train
    >>> "It stopped because" in summarize_run(train(["hug hugs"], vocab_size=259))
    True
    """
    trained = [
        [
            "Trained on",
            f"{counted(run.corpus_bytes, 'byte')}, "
            f"{counted(run.pretokens.n_words, 'distinct word')}",
        ],
        ["Compression", _compression(run)],
        ["End", escape(run.stop_sentence)],
    ]
    return _table([*_properties(run.tokenizer, run.merges), *trained])


def _properties(tokenizer: Tokenizer, merges: Sequence[Merge]) -> list[list[str]]:
    special = list(tokenizer.special_tokens)
    more = f" and {len(special) - _MAX_SPECIAL:,} more" if len(special) > _MAX_SPECIAL else ""
    vocab = tokenizer.vocab
    return [
        ["Vocabulary", counted(tokenizer.vocab_size, "token")],
        ["Merges", f"{len(merges):,}"],
        ["Base", tokenizer.base],
        ["Pre-tokenizer", _code(tokenizer.pretokenizer.name)],
        ["Special tokens", ", ".join(map(_code, special[:_MAX_SPECIAL])) + more or "none"],
        [
            "First merges",
            " ".join(_draw_tile(vocab[merge.id], merge.id) for merge in merges[:_MAX_MERGES]),
        ],
    ]


def _compression(run: TrainingRun) -> str:
    before, after = int(run.tokens_after[0]), int(run.tokens_after[-1])
    return f"{counted(before, 'token')} before the first merge, {after:,} after the last"


def _draw_running(token: bytes, id: int) -> str:
    """Return a token of running text, which has no colour if its id is -1."""
    lines = token.decode("utf-8", "backslashreplace").split("\n")
    shown = "↵\n".join(map(_show, lines))
    return f'<span style="{_fill(id)}{_RUNNING}">{escape(shown)}</span>'


def _draw_tile(token: bytes, id: int = -1) -> str:
    shown = _show(token.decode("utf-8", "backslashreplace").replace("\n", "↵"))
    return f'<span style="{_fill(id)}{_TILE}">{_line(shown.replace(" ", "␣"))}</span>'


def _show(text: str) -> str:
    return printable(text.replace("\t", "→"))


def _fill(id: int) -> str:
    if id < 0:
        return ""
    # The rule of `colourSlot` in colours.js. The fills are light in every theme: the ink is dark.
    return f"background: {_colours()[id * 2654435761 % 2**32 >> 29]}; color: #211e1a; "


@cache
def _colours() -> list[str]:
    css = (COMPONENTS / "shared" / "tokens.css").read_text("utf-8")
    return _COLOUR.findall(css)


def _table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    lines = [("th", heads)] * bool(heads) + [("td", row) for row in rows]
    style = "text-align: left; padding: 4px 12px;"
    drawn = (
        "".join(f'<{tag} style="{style}">{cell}</{tag}>' for cell in cells) for tag, cells in lines
    )
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in drawn)}</table>"


def _code(text: str) -> str:
    return f"<code>{_line(text)}</code>"


def _line(text: str) -> str:
    line = printable(text)
    return escape(line if len(line) <= _MAX_LENGTH else line[: _MAX_LENGTH - 1] + "…")
