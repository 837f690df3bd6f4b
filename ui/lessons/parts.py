"""Define lessons and steps, and draw what they share: the text field, the code run, claims."""

from __future__ import annotations

import ast
import inspect
import io
import keyword
import textwrap
import tokenize
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import streamlit as st

import bpe_core
from bpe_core.trainers.reference import count_pairs
from ui.components.large_paste import paste_limits, read_paste
from ui.components.lesson import Piece, ShownCode, claim, lesson_code
from ui.components.live_text import live_text
from ui.lessons.walk import Walk
from ui.look.labels import plain_markdown
from ui.shell import address, workspace

_KINDS = {tokenize.STRING: "text", tokenize.COMMENT: "comment"}
MAX_TEXT_LENGTH = 2_000
_MAX_BYTES_PASTED = 20_000_000
"""The reference recounts everything before each merge, so a longer text would take too long."""
_MAX_LENGTH_IN_ADDRESS = 1_000


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


@dataclass(frozen=True, slots=True)
class LessonTexts:
    """The texts typed in the fields of the lessons."""

    by_field: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Ran:
    """The code that a step shows: functions from the source, a call of one, and its result."""

    functions: tuple[Callable[..., Any], ...]
    call: str
    result: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Learned:
    """The training runs on the visitor's text and on the example's own."""

    yours: Walk
    theirs: Walk
    """The training on the example's text, to which its claims refer."""
    documents: tuple[str, ...] = ()
    """The visitor's documents; empty if words are given with their counts."""

    @property
    def is_changed(self) -> bool:
        """Whether the visitor's words differ from the example's."""
        return (self.yours.words, self.yours.counts) != (self.theirs.words, self.theirs.counts)


Example = TypeVar("Example")
"""What a lesson computes once for all its steps."""


@dataclass(frozen=True, slots=True)
class LessonStep(Generic[Example]):
    """One step of a lesson: its name in the row of steps, its heading, its drawing function."""

    name: str
    heading: str
    draw: Callable[[Example], Ran]


@dataclass(frozen=True, slots=True)
class Lesson(Generic[Example]):
    """Several steps on one example, and the fields in which a visitor can change it."""

    title: str
    lead: str
    read_input: Callable[[], Example]
    """Draw the fields and compute the example; raises `BpeError`."""
    steps: tuple[LessonStep[Example], ...]


def own_text(name: str, first: str) -> str:
    """Return the visitor's text, else the one in the address, else `first`; cut if too long."""
    return cut_text(_whole_text(name, first))


def cut_text(text: str) -> str:
    """Cut a text to the length that a lesson reads, after a whole line unless the first is longer.

    >>> len(cut_text("one\\n" * 1_000)), len(cut_text("one" * 1_000))
    (1999, 2000)
    """
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    lines = text[: text.rfind("\n", 0, MAX_TEXT_LENGTH) + 1]
    return lines[:-1] if lines.strip() else text[:MAX_TEXT_LENGTH]


def _whole_text(name: str, first: str) -> str:
    text = workspace.get(LessonTexts).by_field.get(name)
    if text is None:
        text = address.query_text(name, _MAX_LENGTH_IN_ADDRESS)
    return first if text is None else text


def text_input(name: str, first: str, *, label: str, lines: int) -> None:
    """Draw the field of a lesson's text, and write its text to the address."""
    text = _whole_text(name, first)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":gray[{label}]", width="content")
        st.space("stretch")
        if text != first:
            st.button(
                "Reset to the example",
                type="tertiary",
                on_click=_keep,
                args=(name, first),
                key=f"{name}_again",
            )
    key = f"lesson_{name}"
    live_text(
        text,
        label=label,
        key=key,
        on_typed=partial(_keep_typed, name, key),
        on_pasted=partial(_keep_pasted, name, key),
        on_closed=partial(_keep, name, first),
        limits=paste_limits(max_bytes=_MAX_BYTES_PASTED, max_sent=_MAX_BYTES_PASTED),
        lines=lines,
    )
    if len(text) > MAX_TEXT_LENGTH:
        st.warning(
            f"Only the first {len(cut_text(text)):,} of {len(text):,} characters are used, because "
            "the code of these lessons is written to be read, not to be fast."
        )
    in_address = text != first and len(text) <= _MAX_LENGTH_IN_ADDRESS
    address.set_query(**{name: text if in_address else None})


def _keep_typed(name: str, key: str) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        _keep(name, typed)


def _keep_pasted(name: str, key: str) -> None:
    paste = read_paste(workspace.component_value(key, "pasted"))
    if paste is not None:
        _keep(name, paste.text)


def _keep(name: str, text: str) -> None:
    workspace.update(LessonTexts, by_field={**workspace.get(LessonTexts).by_field, name: text})


def one_word(name: str, first: str, *, label: str = "Word to encode") -> str:
    """Draw the field of a word, and return the word."""
    typed = st.text_input(label, value=first, max_chars=40, key=name, bind="query-params")
    return "".join(typed.split()) or first


def one_text(name: str, first: str) -> str:
    """Draw the field of a short text to encode, and return the text with its spaces."""
    typed = st.text_input(
        "Text to encode", value=first, max_chars=60, key=name, bind="query-params"
    )
    return typed or first


def split_documents(text: str) -> tuple[str, ...]:
    """Return the documents of a text: its lines, without blank ones.

    >>> split_documents("one\\n\\ntwo")
    ('one', 'two')
    """
    return tuple(line for line in text.splitlines() if line.strip())


def no_pair() -> Ran:
    """Explain that there is no pair to join, and return the code to show in that case."""
    st.info("Every word is a single symbol, so there are no pairs. Add a longer word.")
    return Ran((count_pairs,), "count_pairs(words, counts)", "{}")


def show_ran(ran: Ran, *, key: str) -> None:
    """Draw the code of a step."""
    lesson_code(
        [source_lines(function) for function in ran.functions],
        call=ran.call,
        printed=ran.result,
        note=ran.note,
        key=key,
    )


def check_claim(
    key: str,
    *,
    source: str,
    stated: str,
    found: str,
    how: str = "",
    agrees: bool = False,
    on_its_own: bool = False,
) -> None:
    """Draw a statement of an example next to what was computed here.

    `on_its_own` is True if the visitor has changed the words: the statement is still checked on the
    example's own words.
    """
    claim(source, stated, found, how=how, agrees=agrees, on_its_own=on_its_own, key=f"claim_{key}")


def merges_slider(n_merges: int, *, key: str, start: int) -> int:
    """Draw the slider over the merges of a small training, and return the number done."""
    if n_merges < 1:
        return 0
    return st.slider(
        "Merges done", 0, n_merges, min(start, n_merges), key=f"{key}_{n_merges}", width="stretch"
    )


def note_shortened(most: int, n: int, things: str, *, which: str = "first") -> None:
    """Draw a note that only `most` of `n` things are shown, if there are more."""
    if n > most:
        st.markdown(f":gray[The {which} {most:,} of {n:,} {things}.]")


def safe(text: str, longest: int = 60) -> str:
    """Escape a visitor's words for Markdown."""
    return plain_markdown(text, longest)
