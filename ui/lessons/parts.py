"""What all lessons are made of: steps, the visitor's own text, the code that ran, and claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import streamlit as st

from bpe_core.lessons.walk import Walk
from bpe_core.trainers.reference import count_pairs
from ui.components.lesson import claim, lesson_code
from ui.components.live_text import live_text
from ui.lessons.source import source_of
from ui.look.labels import plain_markdown
from ui.shell import frame, workspace

LONGEST_TEXT = 2_000
"""The reference counts everything again before each merge: a longer text would keep one waiting."""
_LONGEST_IN_ADDRESS = 1_000


@dataclass(frozen=True, slots=True)
class Ran:
    """The code that a step shows: functions of the source, a call of one, and what it gave."""

    functions: tuple[Callable[..., Any], ...]
    call: str
    given: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned from the visitor's text, and from the example's own."""

    yours: Walk
    theirs: Walk
    """From the text that the example's claims are about."""
    documents: tuple[str, ...] = ()
    """The visitor's, where words are not given with their counts."""

    @property
    def is_changed(self) -> bool:
        """Whether the visitor's words are other than the example's."""
        return (self.yours.words, self.yours.counts) != (self.theirs.words, self.theirs.counts)


Example = TypeVar("Example")
"""What a lesson computes once for all of its steps."""


@dataclass(frozen=True, slots=True)
class Step(Generic[Example]):
    """One step of a lesson: its name in the row of steps, its heading, and what draws it."""

    name: str
    heading: str
    draw: Callable[[Example], Ran]


@dataclass(frozen=True, slots=True)
class Lesson(Generic[Example]):
    """Some steps on one example, and the fields in which a visitor may change it."""

    title: str
    lead: str
    read_input: Callable[[], Example]
    """Draws the fields and computes the example; raises `BpeError` where it can't."""
    steps: tuple[Step[Example], ...]


def own_text(name: str, first: str) -> str:
    """What the visitor made of a lesson's text; else the address's; else `first`. Cut if long."""
    return cut_text(_whole_text(name, first))


def cut_text(text: str) -> str:
    """The beginning of a text that a lesson reads: whole lines, unless the first is too long.

    >>> len(cut_text("one\\n" * 1_000)), len(cut_text("one" * 1_000))
    (1999, 2000)
    """
    if len(text) <= LONGEST_TEXT:
        return text
    lines = text[: text.rfind("\n", 0, LONGEST_TEXT) + 1]
    return lines[:-1] if lines.strip() else text[:LONGEST_TEXT]


def _whole_text(name: str, first: str) -> str:
    text = workspace.current().lesson_texts.get(name)
    if text is None:
        text = frame.query_text(name, _LONGEST_IN_ADDRESS)
    return first if text is None else text


def text_input(name: str, first: str, *, label: str, lines: int) -> None:
    """Draws the field of a lesson's text, and puts what is in it in the address."""
    text = _whole_text(name, first)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":gray[{label}]", width="content")
        st.space("stretch")
        if text != first:
            st.button(
                "As in the lesson",
                type="tertiary",
                on_click=_keep,
                args=(name, first),
                key=f"{name}_again",
            )
    key = f"lesson_{name}"
    live_text(text, label=label, key=key, on_typed=partial(_keep_typed, name, key), lines=lines)
    if len(text) > LONGEST_TEXT:
        st.warning(
            f"Only the first {len(cut_text(text)):,} of {len(text):,} characters are used: the "
            "code of these lessons is made to be read, not to be fast."
        )
    in_address = text != first and len(text) <= _LONGEST_IN_ADDRESS
    frame.set_query(**{name: text if in_address else None})


def _keep_typed(name: str, key: str) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        _keep(name, typed)


def _keep(name: str, text: str) -> None:
    workspace.update(lesson_texts={**workspace.current().lesson_texts, name: text})


def one_word(name: str, first: str) -> str:
    """Draws the field of a word to encode; the word."""
    typed = st.text_input(
        "Word to encode", value=first, max_chars=40, key=name, bind="query-params"
    )
    return "".join(typed.split()) or first


def one_text(name: str, first: str) -> str:
    """Draws the field of a short text to encode; the text, spaces and all."""
    typed = st.text_input(
        "Text to encode", value=first, max_chars=60, key=name, bind="query-params"
    )
    return typed or first


def lines_of(text: str) -> tuple[str, ...]:
    """The documents of a text, a line each; blank lines are none.

    >>> lines_of("one\\n\\ntwo")
    ('one', 'two')
    """
    return tuple(line for line in text.splitlines() if line.strip())


def no_pair() -> Ran:
    """Says that nothing can be joined; to be returned in place of what a step would show."""
    st.info("Every word is one symbol: there is no pair. Give a longer word.")
    return Ran((count_pairs,), "count_pairs(words, counts)", "{}")


def show_ran(ran: Ran, *, key: str) -> None:
    """Draws the code of a step beside it."""
    lesson_code(
        [source_of(function) for function in ran.functions],
        call=ran.call,
        printed=ran.given,
        note=ran.note,
        key=key,
    )


def said_and_found(
    key: str,
    *,
    source: str,
    said: str,
    found: str,
    how: str = "",
    agrees: bool = False,
    on_its_own: bool = False,
) -> None:
    """Draws what an example says beside what was computed here.

    `on_its_own` where the visitor has changed the words: what an example says is held against the
    example's own.
    """
    claim(source, said, found, how=how, agrees=agrees, on_its_own=on_its_own, key=f"claim_{key}")


def merges_slider(n_merges: int, *, key: str, start: int) -> int:
    """Draws the slider over the merges of a small training; the number that are done."""
    if n_merges < 1:
        return 0
    return st.slider(
        "Merges done", 0, n_merges, min(start, n_merges), key=f"{key}_{n_merges}", width="stretch"
    )


def first_of(most: int, n: int, things: str, *, which: str = "first") -> None:
    """Says that not all of something is drawn, where that is so."""
    if n > most:
        st.markdown(f":gray[The {which} {most:,} of {n:,} {things}.]")


def safe(text: str, longest: int = 60) -> str:
    """A visitor's words for a sentence in Markdown."""
    return plain_markdown(text, longest)
