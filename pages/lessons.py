"""Lessons: byte-pair encoding step by step, each step next to the code it runs."""

from functools import partial
from typing import Any

import streamlit as st

from bpe_core.errors import BpeError
from ui.lessons.order import LESSONS
from ui.lessons.parts import Lesson, show_ran
from ui.look.labels import plain_markdown
from ui.shell import frame, workspace
from ui.shell.choices import choose_one


def choose_lesson() -> Lesson[Any]:
    titles = [lesson.title for lesson in LESSONS]
    return LESSONS[titles.index(choose_one("Lesson", titles, key="lesson"))]


def choose_step(lesson: Lesson[Any]) -> int:
    names = [step.name for step in lesson.steps]
    key = f"step_of_{LESSONS.index(lesson) + 1}"
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_steps"):
        place = names.index(choose_one("Step", names, key=key))
        st.space("stretch")
        st.markdown(f":gray[Step {place + 1} of {len(names)}]", width="content")
        last = len(names) - 1
        st.button(
            "Back",
            disabled=place == 0,
            on_click=partial(workspace.set_widget, key, names[max(0, place - 1)]),
        )
        st.button(
            "Next",
            type="primary",
            disabled=place == last,
            on_click=partial(workspace.set_widget, key, names[min(last, place + 1)]),
        )
    return place


def draw_lesson(lesson: Lesson[Any]) -> None:
    st.markdown(f":gray[{lesson.lead}]")
    step = lesson.steps[choose_step(lesson)]
    st.header(step.heading, anchor=False)
    seen, code = st.columns([7, 6], gap="large")
    with seen:
        # The fields are drawn below the picture, but must be read before it.
        picture = st.container()
        try:
            example = lesson.read_input()
            with picture:
                ran = step.draw(example)
        except BpeError as error:
            picture.error(plain_markdown(str(error), 600))
            return
    with code:
        show_ran(ran, key=f"code_{lesson.title}_{step.name}")


frame.plain_page_frame(
    "Lessons",
    "Byte-pair encoding, one step at a time. Each step runs the code next to it, on words that you "
    "can edit.",
)
draw_lesson(choose_lesson())
