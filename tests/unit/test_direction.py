"""Say how right-to-left text is ordered on the screen."""

from __future__ import annotations

import pytest

from ui.look.direction import RIGHT_TO_LEFT, order_note


@pytest.mark.parametrize("text", ["", "hug", "Größe 漢字 हिन्दी 😀 123 (a)", "a\u200db"])
def test_text_from_left_to_right_needs_no_note(text: str) -> None:
    assert order_note(text) == ""


@pytest.mark.parametrize("text", ["שלום", "an Arabic word: سلام", "فارسی", "ܫܠܡܐ"])
def test_right_to_left_letters_are_explained(text: str) -> None:
    assert order_note(text) == RIGHT_TO_LEFT


def test_direction_controls_are_named_once_and_never_shown() -> None:
    note = order_note("a\u202eb\u202ec\u2066d\u2069")
    assert note.endswith("U+202E, U+2066, U+2069.")
    assert note.isascii()
    assert order_note("שלום\u202e").startswith(RIGHT_TO_LEFT)
