"""Draw tokens, merges and summaries as plain HTML, for where no script runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import Final

from bpe_core.checks import counted, printable
from bpe_core.runs import TrainingRun, stop_sentence
from bpe_core.tokenizer import Boundaries, Encoder, Tokenizer
from bpe_core.types import Merge
from bpe_core.views.component_files import COMPONENTS

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

    >>> from bpe_core.runs import train
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

    >>> from bpe_core.runs import train
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
        ["End", escape(stop_sentence(run))],
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
