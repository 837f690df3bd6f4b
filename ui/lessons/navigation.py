"""Lead through the lessons and their steps, draw a lesson for print, and advise teachers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st

from ui.components import Question, claims, full_screen, question
from ui.host import errors_shown
from ui.lessons import (
    four_documents,
    gpt2_cuts,
    hug_words,
    languages,
    new_words,
    other_ways,
    reasons,
)
from ui.lessons.parts import PRINT, Lesson, is_printing
from ui.shell import choose_one, workspace

LESSONS: tuple[Lesson[Any], ...] = (
    hug_words.LESSON,
    four_documents.LESSON,
    gpt2_cuts.LESSON,
    reasons.LESSON,
    new_words.LESSON,
    languages.LESSON,
    other_ways.LESSON,
)


def style_page() -> None:
    """Style the page, also for print, and respond to a press immediately."""
    st.html(Path(__file__).with_suffix(".css"))


_BUTTONS: Final = ".st-key-lesson_steps [data-testid=stBaseButton-"
_MAIN: Final = "[data-testid=stMain]"
GAME: Final = "You against BPE"
"""The name of the game, which comes before the lessons."""


def choose_lesson() -> Lesson[Any] | None:
    """Draw the choice of a lesson; return None for the game.

    A link to a step of the first lesson need not name the lesson.
    """
    if workspace.is_from_history():
        # The page's first address names no step: it is that of the first one.
        for lesson in LESSONS:
            if not workspace.has_query(key := _step_key(lesson)):
                workspace.set_widget(key, lesson.steps[0].name)
    names_step = any(workspace.has_query(_step_key(lesson)) for lesson in LESSONS)
    first = LESSONS[0].title if names_step or is_printing() else GAME
    titles = [lesson.title for lesson in LESSONS]
    chosen = choose_one("Lesson", [GAME, *titles], key="lesson", first=first)
    return None if chosen == GAME else LESSONS[titles.index(chosen)]


def _step_key(lesson: Lesson[Any]) -> str:
    return f"step_of_{LESSONS.index(lesson) + 1}"


def choose_step(lesson: Lesson[Any]) -> int:
    """Draw the choice of a step, and return its place."""
    names = [step.name for step in lesson.steps]
    return names.index(choose_one("Step", names, key=_step_key(lesson)))


def step_link(lesson: Lesson[Any], place: int, **more: str) -> str:
    """Return the address of a step, relative to the page."""
    query = {"lesson": lesson.title, _step_key(lesson): lesson.steps[place].name, **more}
    return f"?{urlencode(query)}"


def draw_ways_on(lesson: Lesson[Any], place: int) -> None:
    """Draw the buttons to other steps, and after the last step the sources and the next lesson."""
    names = [step.name for step in lesson.steps]
    key, last = _step_key(lesson), len(names) - 1
    if place == last:
        _draw_sources(lesson)
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_steps"):
        st.button(
            "Back",
            disabled=place == 0,
            on_click=partial(workspace.set_widget, key, names[max(0, place - 1)]),
        )
        following = LESSONS[LESSONS.index(lesson) + 1 :][:1]
        if place < last:
            st.button(
                "Next",
                type="primary",
                on_click=partial(workspace.set_widget, key, names[place + 1]),
            )
        elif following:
            st.button(
                f"Next lesson: {following[0].title}",
                type="primary",
                on_click=partial(workspace.set_widget, "lesson", following[0].title),
            )
        else:
            st.page_link("pages/train.py", label="**Train on your own text →**")
        st.markdown(f":gray[Step {place + 1} of {len(names)}]", width="content")
        st.space("stretch")
        full_screen(
            forward=f"{_BUTTONS}primary]", back=f"{_BUTTONS}secondary]", scroller=_MAIN, key="full"
        )
        _draw_for_teachers(lesson)


def _draw_sources(lesson: Lesson[Any]) -> None:
    if not lesson.sources:
        return
    with st.expander("Sources, and where they err"):
        for number, source in enumerate(lesson.sources):
            st.markdown(f"This lesson retells {source.title}.")
            claims(source.find_claims(), key=f"claims_{lesson.title}_{number}")


def _draw_for_teachers(lesson: Lesson[Any]) -> None:
    with st.popover("For teachers", type="tertiary"):
        st.markdown("Nobody needs an account. Each step has a link of its own:")
        links = (f"- [{s.name}]({step_link(lesson, i)})" for i, s in enumerate(lesson.steps))
        st.markdown("\n".join(links))
        st.markdown(f"[This lesson for print]({step_link(lesson, 0, **{PRINT: 'true'})})")


def print_lesson(lesson: Lesson[Any]) -> None:
    """Draw all questions of a lesson, each with the link to its step, then all answers."""
    st.markdown(f":gray[{lesson.lead} Print this page with your browser.]")
    back = partial(workspace.set_query, **{PRINT: None})
    st.button("Back to the lesson", type="tertiary", on_click=back, key="print_back")
    with errors_shown():
        example = lesson.read_input()
        asked: list[Question | None] = []
        st.header(f"{lesson.title}: questions", anchor=False)
        for place, step in enumerate(lesson.steps):
            with st.container(key=f"print_question_{place}"):
                st.subheader(f"{place + 1}. {step.heading}", anchor=False)
                asked.append(step.ask(example))
                _draw_question(asked[-1], place, answer=None)
                link = f"{st.context.url or ''}{step_link(lesson, place)}"
                st.markdown(f"[Step {place + 1} on the screen]({link})")
        with st.container(key="print_answers"):
            st.header(f"{lesson.title}: answers", anchor=False)
            for place, step in enumerate(lesson.steps):
                with st.container(key=f"print_answer_{place}"):
                    st.subheader(f"{place + 1}. {step.heading}", anchor=False)
                    _draw_question(asked[place], place, answer=-1)
                    step.show(example)
            for number, source in enumerate(lesson.sources):
                st.subheader("Where the source errs", anchor=False)
                st.markdown(f"This lesson retells {source.title}.")
                claims(source.find_claims(), key=f"print_claims_{number}")


def _draw_question(asked: Question | None, place: int, *, answer: int | None) -> None:
    if asked is not None:
        question(asked, answer=answer, on_answer=lambda: None, key=f"print_{place}_{answer}")
