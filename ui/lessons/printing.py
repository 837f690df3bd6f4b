"""Format tokens, pairs, results and the source of functions, for sentences and as Python does."""

from __future__ import annotations

import ast
import inspect
import io
import keyword
import textwrap
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from pprint import pformat
from typing import Any, Final, cast

import bpe_core
from bpe_core.types import Merge, Pair
from ui.components import Piece, ShownCode
from ui.lessons.walk import Walk
from ui.look import counted

SPELLED = "The code works on ids; here each id is printed as its token."
_WIDTH = 62
_MAX_LINES = 14


def format_token(token: bytes) -> str:
    """Return a token for a sentence: its text, with ␣ for a space and code points if unprintable.

    >>> format_token(b" the"), format_token(b"\\t"), format_token(b"\\xc3")
    ('␣the', 'U+0009', '<C3>')
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return f"<{token.hex(' ').upper()}>"
    text = text.replace(" ", "␣")
    return "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in text)


def ids_name(ids: Sequence[int]) -> str:
    """Return a range of consecutive ids in words.

    >>> ids_name([10, 11, 12]), ids_name([60])
    ('10 to 12', '60')
    """
    return f"{ids[0]} to {ids[-1]}" if len(ids) > 1 else f"{ids[0]}"


def quoted(token: bytes) -> str:
    """Return a token in quotation marks.

    >>> quoted(b" quick")
    '“ quick”'
    """
    return f"“{token.decode(errors='backslashreplace')}”"


def legend(ids: Iterable[int], vocab: Mapping[int, bytes]) -> str:
    """Return a sentence that explains some ids.

    >>> legend([1, 0, 1], {0: b"g", 1: b"hu"})
    'These are ids: 1 is hu, 0 is g'
    """
    named = [f"{id} is {format_token(vocab[id])}" for id in dict.fromkeys(ids)]
    return f"These are ids: {', '.join(named)}"


def pair_name(pair: Pair, vocab: Mapping[int, bytes]) -> str:
    """Return a pair for a sentence: (u, g)."""
    return f"({format_token(vocab[pair[0]])}, {format_token(vocab[pair[1]])})"


def format_sum(walk: Walk, pair: Pair) -> str:
    """Return a pair's first count as a sum over words: hug 10 + ugg 5 = 15."""
    terms = walk.terms(0, pair)
    count = walk.pair_counts_at(0).get(pair, 0)
    parts = [
        f"{t.word} {t.times} × {t.count}" if t.times > 1 else f"{t.word} {t.count}" for t in terms
    ]
    shown = " + ".join(parts[:8]) + (" + …" if len(parts) > 8 else "")
    return f"{pair_name(pair, walk.run.vocab)}: {shown} = {count:,}" if parts else ""


def printed(value: object, vocab: Mapping[int, bytes] | None = None) -> str:
    """Format a value as Python prints it, with tokens in place of ids if a vocabulary is given.

    >>> printed({(0, 1): 15}, {0: b"u", 1: b"g"})
    "{('u', 'g'): 15}"
    """
    if vocab is not None:
        value = _spelled(value, vocab)
    lines = pformat(value, width=_WIDTH, compact=True, sort_dicts=False).split("\n")
    if len(lines) > _MAX_LINES:
        rest = len(lines) - _MAX_LINES + 1
        lines = [*lines[: _MAX_LINES - 1], f" … {counted(rest, 'more line')}"]
    return "\n".join(lines)


def _spelled(value: object, vocab: Mapping[int, bytes]) -> object:
    match value:
        case Merge():
            return (_spelled(value.left, vocab), _spelled(value.right, vocab))
        case dict():
            counts = cast("dict[object, object]", value)
            return {_spelled(key, vocab): count for key, count in counts.items()}
        case list():
            return [_spelled(one, vocab) for one in cast("list[object]", value)]
        case tuple():
            return tuple(_spelled(one, vocab) for one in cast("tuple[object, ...]", value))
        case int():
            token = vocab[value]
            try:
                return token.decode()
            except UnicodeDecodeError:
                return token
        case _:
            return value


_KINDS: Final = {tokenize.STRING: "text", tokenize.COMMENT: "comment"}


@cache
def source_lines(function: Callable[..., Any]) -> ShownCode:
    """Return a function's source as lines and pieces that a component can colour.

    Only the first paragraph of its docstring is included, without the examples.

    >>> from bpe_core.trainers import count_words
    >>> shown = source_lines(count_words)
    >>> shown.name, shown.path, shown.lines[0][0]
    ('count_words', 'bpe_core/trainers/reference.py', ('def', 'keyword'))
    """
    function = inspect.unwrap(function)
    # In an installed app, the library is in another folder than the app.
    library = Path(bpe_core.__file__).parent
    path = Path(inspect.getfile(function)).relative_to(library.parent).as_posix()
    source = textwrap.dedent(inspect.getsource(function))
    lines = _pieces(source)
    start, end = _examples(source)
    return ShownCode(function.__qualname__, path, (*lines[:start], *lines[end:]))


def _examples(source: str) -> tuple[int, int]:
    """Return the range of lines from a docstring's first blank line to its last, exclusive."""
    match ast.parse(source).body:
        case [ast.FunctionDef(body=[ast.Expr(ast.Constant()) as docstring, *_])]:
            lines = source.split("\n")
            first, last = docstring.lineno - 1, (docstring.end_lineno or docstring.lineno) - 1
            blank = next((row for row in range(first, last) if not lines[row].strip()), last)
            return blank, last
        case _:
            return 0, 0


def _pieces(source: str) -> list[tuple[Piece, ...]]:
    lines = source.rstrip("\n").split("\n")
    kinds = [[""] * len(line) for line in lines]
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = _KINDS.get(token.type, "")
        if token.type == tokenize.NAME:
            if keyword.iskeyword(token.string):
                kind = "keyword"
            elif before in ("def", "class"):
                kind = "name"
            before = token.string
        if kind:
            (first, start), (last, end) = token.start, token.end
            for row in range(first - 1, min(last, len(lines))):
                low = start if row == first - 1 else 0
                high = end if row == last - 1 else len(lines[row])
                kinds[row][low:high] = [kind] * (high - low)
    return [_runs(line, of) for line, of in zip(lines, kinds, strict=True)]


def _runs(line: str, kinds: list[str]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    start = 0
    for end in range(1, len(line) + 1):
        if end == len(line) or kinds[end] != kinds[start]:
            pieces.append((line[start:end], kinds[start]))
            start = end
    return tuple(pieces)
