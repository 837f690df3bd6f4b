"""Draw a lesson for print: its questions, and on the next page the answers."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from bpe_core.errors import BpeError
from ui.components.lesson import Question, claims, question
from ui.lessons.navigation import step_link
from ui.lessons.parts import PRINT, Lesson
from ui.look.labels import plain_markdown
from ui.shell import address


def draw(lesson: Lesson[Any]) -> None:
    """Draw all questions of a lesson, each with the link to its step, then all answers."""
    st.markdown(f":gray[{lesson.lead} Print this page with your browser.]")
    back = partial(address.set_query, **{PRINT: None})
    st.button("Back to the lesson", type="tertiary", on_click=back, key="print_back")
    try:
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
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))


def _draw_question(asked: Question | None, place: int, *, answer: int | None) -> None:
    if asked is not None:
        question(asked, answer=answer, on_answer=lambda: None, key=f"print_{place}_{answer}")
