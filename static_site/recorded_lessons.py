"""Draw the lessons as the app draws them, on their examples, and keep what was drawn."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import streamlit as st
from markdown_it import MarkdownIt
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

from ui.components import claims, question
from ui.lessons import LESSONS, PRINT, Lesson, show_ran

_MAX_SECONDS = 300
_QUESTION = "bpe.question"
_MARKDOWN = MarkdownIt("commonmark", {"html": False})
# Streamlit's `:gray[text]` and `:green-badge[text]`.
_DIRECTIVE = re.compile(r":(gray|green-badge)\[(.*)\]", re.DOTALL)
_LINK = "app:"


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """A part of a step: HTML, or a component with its data."""

    html: str = ""
    component: str = ""
    data: Any = None


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """A step of a lesson: what its question is about, and what the answer shows."""

    name: str
    heading: str
    asked: tuple[DrawnPart, ...]
    shown: tuple[DrawnPart, ...]

    @property
    def has_question(self) -> bool:
        """Whether the step asks before it shows."""
        return any(part.component == _QUESTION for part in self.asked)


@dataclass(frozen=True, slots=True)
class DrawnLesson:
    """A lesson whose steps are drawn."""

    title: str
    lead: str
    steps: tuple[DrawnStep, ...]
    sources: tuple[DrawnPart, ...]

    @property
    def slug(self) -> str:
        """The name of its page.

        >>> DrawnLesson("GPT-2’s cuts", "", (), ()).slug
        'lesson-gpt-2-s-cuts'
        """
        return "lesson-" + re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    def parts(self) -> Iterator[DrawnPart]:
        """Yield everything drawn, in the order of the page."""
        for step in self.steps:
            yield from (*step.asked, *step.shown)
        yield from self.sources


def drawn_lessons() -> list[DrawnLesson]:
    """Draw all lessons; raises RuntimeError if one of them fails."""
    # AppTest writes to its session state before any script runs, which Streamlit warns about.
    logging.getLogger(get_script_run_ctx.__module__).setLevel(logging.ERROR)
    test = AppTest.from_function(_script, default_timeout=_MAX_SECONDS).run()
    if test.exception:
        raise RuntimeError(f"A lesson cannot be drawn: {test.exception[0].message}")
    return [
        _read_lesson(lesson, box) for lesson, box in zip(LESSONS, _blocks(test.main), strict=True)
    ]


def _script() -> None:
    from static_site.recorded_lessons import draw_lessons

    draw_lessons()


def draw_lessons() -> None:
    """Draw each step into two boxes, without fields; sources come last."""
    st.query_params[PRINT] = "true"
    with patch.object(st, "page_link", _link_to_app):
        for number, lesson in enumerate(LESSONS):
            with st.container():
                _draw_lesson(lesson, number)


def _draw_lesson(lesson: Lesson[Any], number: int) -> None:
    example = lesson.read_input()
    for place, step in enumerate(lesson.steps):
        key = f"{number}_{place}"
        with st.container():
            asked = step.ask(example)
            if asked is not None:
                question(asked, answer=None, on_answer=lambda: None, key=f"question_{key}")
        with st.container():
            show_ran(step.show(example), key=f"code_{key}")
    with st.container():
        for place, source in enumerate(lesson.sources):
            st.markdown(f"This lesson retells {source.title}.")
            claims(source.find_claims(), key=f"claims_{number}_{place}")


def _link_to_app(page: str, *, label: str) -> None:
    """Stand in for Streamlit's link, which needs the app's navigation."""
    st.markdown(f"[{label}]({_LINK}{page.removeprefix('pages/').removesuffix('.py')})")


def _read_lesson(lesson: Lesson[Any], box: Block) -> DrawnLesson:
    *steps, sources = (tuple(map(_read_part, _elements(part))) for part in _blocks(box))
    return DrawnLesson(
        lesson.title,
        lesson.lead,
        tuple(
            DrawnStep(step.name, step.heading, asked, shown)
            for step, asked, shown in zip(lesson.steps, steps[::2], steps[1::2], strict=True)
        ),
        sources,
    )


def _blocks(box: Block) -> Iterator[Block]:
    return (child for child in box.children.values() if isinstance(child, Block))


def _elements(box: Block) -> Iterable[Element]:
    for child in box.children.values():
        if isinstance(child, Block):
            yield from _elements(child)
        else:
            yield child


def _read_part(element: Element) -> DrawnPart:
    match element.type:
        case "markdown":
            return DrawnPart(html=written(element.value))
        case "info":
            return DrawnPart(html=f'<div class="info">{written(element.value)}</div>')
        case "bidi_component":
            proto: Any = element.proto
            return DrawnPart(component=proto.component_name, data=json.loads(proto.json))
        case other:
            raise RuntimeError(f"A lesson draws {other!r}, which the site does not know.")


def written(markdown: str) -> str:
    """Return Streamlit's Markdown as HTML.

    >>> written(":gray[The first *9* <pairs>.]")
    '<p class="gray">The first <em>9</em> &lt;pairs&gt;.</p>\\n'
    """
    directive = _DIRECTIVE.fullmatch(markdown)
    kind, text = directive.groups() if directive else ("", markdown)
    html: str = _MARKDOWN.render(text)
    html = html.replace(f'href="{_LINK}', 'data-app-page="').replace("<a ", '<a href="app.html" ')
    return html.replace("<p>", f'<p class="{kind}">') if kind else html
