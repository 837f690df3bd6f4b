"""List the lessons in the order in which they are taught."""

from __future__ import annotations

from typing import Any

from ui.lessons import four_documents, gpt2_cuts, hug_words, languages, new_words, reasons
from ui.lessons.parts import Lesson

LESSONS: tuple[Lesson[Any], ...] = (
    hug_words.LESSON,
    four_documents.LESSON,
    gpt2_cuts.LESSON,
    reasons.LESSON,
    new_words.LESSON,
    languages.LESSON,
)
