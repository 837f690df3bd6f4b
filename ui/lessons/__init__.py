"""The lessons: their words and the order of their steps; what they compute is in the core."""

from __future__ import annotations

from typing import Any

from ui.lessons import four_documents, gpt2_cuts, hug_words, reasons
from ui.lessons.parts import Lesson

LESSONS: tuple[Lesson[Any], ...] = (
    hug_words.LESSON,
    four_documents.LESSON,
    gpt2_cuts.LESSON,
    reasons.LESSON,
)
