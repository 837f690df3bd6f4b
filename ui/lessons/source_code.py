"""Show the source of functions next to what they returned."""

from __future__ import annotations

import ast
import inspect
import io
import keyword
import textwrap
import tokenize
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import bpe_core
from ui.components.lesson import Piece, ShownCode

_KINDS: Final = {tokenize.STRING: "text", tokenize.COMMENT: "comment"}


@cache
def source_lines(function: Callable[..., Any]) -> ShownCode:
    """Return a function's source as lines and pieces that a component can colour.

    Only the first paragraph of its docstring is included, without the examples.

    >>> from bpe_core.trainers.reference import count_words
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
