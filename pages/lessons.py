"""Lessons: byte-pair encoding step by step; each step asks first, then shows."""

from typing import Any

import streamlit as st

from bpe_core.errors import BpeError
from ui.components import draw_game
from ui.lessons import Lesson, ask, is_printing, navigation, show_ran
from ui.look import plain_markdown
from ui.shell import frame


def draw_lesson(lesson: Lesson[Any]) -> None:
    st.markdown(f":gray[{lesson.lead}]")
    place = navigation.choose_step(lesson)
    step = lesson.steps[place]
    st.header(step.heading, anchor=False)
    # The fields are drawn below the picture, but must be read before it.
    picture = st.container()
    try:
        example = lesson.read_input()
        with picture:
            name = f"{lesson.title}_{step.name}"
            question = step.ask(example)
            if question is None or ask(question, step=name):
                show_ran(step.show(example), key=f"code_{name}")
    except BpeError as error:
        picture.error(plain_markdown(str(error), 600))
    navigation.draw_ways_on(lesson, place)


frame.plain_page_frame("Lessons", "Guess first, then see it run, on words that you can change.")
navigation.style_page()
# Apart from the page of the lesson, whose width and size depend on what is chosen here.
with st.container(key="lesson_choice"):
    lesson = navigation.choose_lesson()
with st.container(key="lesson_page"):
    if lesson is None:
        draw_game(key="game")
    elif is_printing():
        navigation.print_lesson(lesson)
    else:
        draw_lesson(lesson)
