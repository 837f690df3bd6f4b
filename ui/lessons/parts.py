"""Define lessons, steps and questions, and draw what they share: fields, and the code that ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar

import streamlit as st

from bpe_core.trainers import count_pairs
from bpe_core.types import Pair
from bpe_core.views import token_for_browser
from ui.components import Claim, Option, Question, lesson_code, question
from ui.corpus import own_text_field
from ui.lessons.printing import source_lines
from ui.lessons.walk import Walk
from ui.shell import address, workspace

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
    return cut_text(own_text_field.own_text(first, name))


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
    text = own_text_field.own_text(first, name)
    if is_printing():
        return
    with st.expander(label):
        own_text_field.live_field(
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
                on_click=own_text_field.set_own_text,
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
        st.text_input(
            label, value=first[:max_chars], max_chars=max_chars, key=name, bind="query-params"
        )


def field_text(name: str, first: str) -> str:
    """Return the text in a field, drawn or not, with its spaces."""
    typed = workspace.widget_text(name) or address.query_text(name) or ""
    return typed or first


def field_word(name: str, first: str) -> str:
    """Return the word in a field, without white space."""
    return "".join(field_text(name, first).split()) or first


def is_printing() -> bool:
    """Return True if the page is drawn for print, without fields to fill in."""
    return address.query_text(PRINT) == "true"


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
