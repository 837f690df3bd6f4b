"""Define lessons, steps and questions, and draw what they share: fields, values, the code that ran.

Tokens, pairs, results and the source of functions are formatted for sentences, and as Python does.
"""

from __future__ import annotations

import ast
import inspect
import io
import keyword
import textwrap
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from pprint import pformat
from typing import Any, Final, Generic, TypeVar, cast

import streamlit as st

import bpe_core
from bpe_core.trainers import count_pairs
from bpe_core.types import Merge, Pair
from bpe_core.views import token_for_browser
from ui.components import Claim, Option, Piece, Question, ShownCode, lesson_code, question
from ui.corpus import own_texts
from ui.lessons.walk import Walk
from ui.look import counted
from ui.shell import bound, workspace

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


PRINT = "print"
MAX_TEXT_LENGTH = 2_000
"""The reference recounts everything before each merge, so a longer text would take too long."""
_MAX_CHARACTERS_KEPT = 20_000_000
# The texts that the lessons retell.
MODULE: Final = "“Tokenization & Vocabulary. Tries, Hash Maps, BPE from Scratch”, a teaching module"
NOTEBOOK: Final = "“Building a Byte Pair Encoding (BPE) Tokenizer from scratch”, a notebook"
COURSE_NOTEBOOK: Final = (
    "“Byte-Pair Encoding tokenization”, a notebook after chapter 6 of the Hugging Face course"
)


@dataclass(frozen=True, slots=True)
class Ran:
    """The code that a step shows: functions from the source, a call of one, and its result."""

    functions: tuple[Callable[..., Any], ...]
    call: str
    result: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Learned:
    """The training on the visitor's documents."""

    run: Walk
    documents: tuple[str, ...]


Example = TypeVar("Example")
"""What a lesson computes once for all its steps."""


@dataclass(frozen=True, slots=True)
class LessonStep(Generic[Example]):
    """One step of a lesson: its name in the row of steps, its heading, and what it draws.

    `ask` draws what the question is about, and returns the question, or None if this example has
    none. `show` draws the answer, once it was given.
    """

    name: str
    heading: str
    ask: Callable[[Example], Question | None]
    show: Callable[[Example], Ran]


@dataclass(frozen=True, slots=True)
class LessonSource:
    """A text that a lesson retells, and where it errs."""

    title: str
    find_claims: Callable[[], tuple[Claim, ...]]


@dataclass(frozen=True, slots=True)
class Lesson(Generic[Example]):
    """Several steps on one example, and the fields in which a visitor can change it."""

    title: str
    lead: str
    read_input: Callable[[], Example]
    """Draw the fields and compute the example; raises `BpeError`."""
    steps: tuple[LessonStep[Example], ...]
    sources: tuple[LessonSource, ...] = ()


def own_text(name: str, first: str) -> str:
    """Return the visitor's text, else the one in the address, else `first`; cut if too long."""
    return cut_text(own_texts.own_text(first, name))


def cut_text(text: str) -> str:
    """Cut a text to the length that a lesson reads, after a whole line unless the first is longer.

    >>> len(cut_text("one\\n" * 1_000)), len(cut_text("one" * 1_000))
    (1999, 2000)
    """
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    lines = text[: text.rfind("\n", 0, MAX_TEXT_LENGTH) + 1]
    return lines[:-1] if lines.strip() else text[:MAX_TEXT_LENGTH]


def text_input(name: str, first: str, *, label: str, lines: int) -> None:
    """Draw the field of a lesson's text, folded, and write its text to the address."""
    text = own_texts.own_text(first, name)
    if is_printing():
        return
    with st.expander(label):
        own_texts.live_field(
            text,
            name,
            label=label,
            first=first,
            key=f"lesson_{name}",
            longest=_MAX_CHARACTERS_KEPT,
            lines=lines,
        )
        if text != first:
            st.button(
                "Reset to the example",
                type="tertiary",
                on_click=own_texts.set_own_text,
                args=(first, name),
                key=f"{name}_again",
            )
    if len(text) > MAX_TEXT_LENGTH:
        st.warning(
            f"Only the first {len(cut_text(text)):,} of {len(text):,} characters are used, because "
            "the code of these lessons is written to be read, not to be fast."
        )


def draw_field(
    name: str, first: str, *, label: str = "Text to encode", max_chars: int = 60
) -> None:
    """Draw the field of a short text, which `field_text` reads, or of a word, as `field_word`."""
    if not is_printing():
        bound(
            partial(st.text_input, label, value=first[:max_chars], max_chars=max_chars),
            key=name,
            usable=lambda text: len(text) <= max_chars,
            expected=f"a text of at most {max_chars} characters",
        )


def field_text(name: str, first: str) -> str:
    """Return the text in a field, drawn or not, with its spaces."""
    typed = workspace.widget_text(name) or workspace.query_text(name) or ""
    return typed or first


def field_word(name: str, first: str) -> str:
    """Return the word in a field, without white space."""
    return "".join(field_text(name, first).split()) or first


def is_printing() -> bool:
    """Return True if the page is drawn for print, without fields to fill in."""
    return workspace.query_text(PRINT) == "true"


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


def merges_slider(n_merges: int, *, key: str, start: int) -> int:
    """Draw the slider over the merges of a small training, and return the number done."""
    if n_merges < 1 or is_printing():
        return min(start, n_merges)
    return st.slider(
        "Merges done", 0, n_merges, min(start, n_merges), key=f"{key}_{n_merges}", width="stretch"
    )


def note_shortened(most: int, n: int, things: str, *, which: str = "first") -> None:
    """Draw a note that only `most` of `n` things are shown, if there are more."""
    if n > most:
        st.markdown(f":gray[The {which} {most:,} of {n:,} {things}.]")


MAX_OPTIONS = 4


@dataclass(frozen=True, slots=True)
class Answers:
    """The steps whose questions were answered, with the place of the answer; -1 if it was shown."""

    by_step: Mapping[str, int] = field(default_factory=dict[str, int])


def ask(asked: Question, *, step: str) -> bool:
    """Draw a question, and return whether it was answered."""
    key = f"question_{step}"
    answer = workspace.get(Answers).by_step.get(step)
    question(asked, answer=answer, on_answer=partial(_keep, step, key), key=key)
    return answer is not None


def _keep(step: str, key: str) -> None:
    answer = workspace.component_value(key, "answer")
    if isinstance(answer, int):
        workspace.update(Answers, by_step={**workspace.get(Answers).by_step, step: answer})


def choose_number(text: str, right: int, others: Iterable[int], because: str) -> Question:
    """Ask for a number, next to other numbers that one might come to.

    >>> choose_number("How many?", 3, [0, 3, 9, 7, 8], "").options
    (Option(text='0', tiles=()), Option(text='3', tiles=()), Option(text='7', tiles=()), \
Option(text='9', tiles=()))
    """
    wrong = [n for n in dict.fromkeys(others) if n != right and n >= 0]
    wrong += [n for n in (right + 1, right + 2) if n not in wrong]
    numbers = sorted([right, *wrong[: MAX_OPTIONS - 1]])
    return Question(
        text, tuple(Option(f"{n:,}") for n in numbers), (numbers.index(right),), because
    )


def choose_text(text: str, options: Sequence[str], right: int, because: str) -> Question:
    """Ask for one of several answers in words."""
    return Question(text, tuple(map(Option, options)), (right,), because)


def choose_most_frequent(text: str, walk: Walk, because: str) -> Question | None:
    """Ask which pair is joined first; None if there are not two pairs.

    All pairs that are as frequent as the winner are right.
    """
    counts = walk.pair_counts_at(0)
    winner = walk.next_pair_at(0)
    if winner is None or len(counts) < 2:
        return None
    ordered = sorted(counts, key=lambda pair: (pair != winner, -counts[pair]))
    shown = sorted(ordered[:MAX_OPTIONS])
    right = tuple(i for i, pair in enumerate(shown) if counts[pair] == counts[winner])
    return Question(text, tuple(pair_option(pair, walk) for pair in shown), right, because)


def pair_option(ids: Sequence[int] | Pair, walk: Walk) -> Option:
    """Return an answer that shows tokens of a training run as tiles."""
    return Option(
        tiles=tuple(
            (token_for_browser(walk.run.vocab[id]), id if id >= walk.n_start else -1) for id in ids
        )
    )
