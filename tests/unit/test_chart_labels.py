"""Chart labels hold no markup, and their text direction does not affect what is around them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ui.look.chart_labels import columns, escaped, shorten_end, shorten_start

CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
LABELS: dict[str, Callable[[str], str]] = {
    "escaped": escaped,
    "shorten_start": lambda label: shorten_start(label, 10_000),
    "shorten_end": lambda label: shorten_end(label, 10_000),
}


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_a_direction_control_is_written_out(label: Callable[[str], str]) -> None:
    for control in CONTROLS:
        assert label(f"a{control}<b>") == f"aU+{ord(control):04X}&lt;b&gt;"


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("text", ["שלום", "a سلام 12", "\u2069שלום"])
def test_right_to_left_text_is_isolated_from_its_surroundings(
    label: Callable[[str], str], text: str
) -> None:
    shown = label(text)
    assert (shown[0], shown[-1]) == ("\u2068", "\u2069")
    assert not set(shown[1:-1]) & set(CONTROLS)


@pytest.mark.parametrize("text", ["the", "日本", "naïve <b>", "", "12"])
def test_other_text_has_no_invisible_characters(text: str) -> None:
    assert escaped(text).isprintable()


def test_an_end_of_word_marker_reads_from_the_left_in_right_to_left_text() -> None:
    assert escaped("ם</w>") == "\u2068ם\u2066&lt;/w&gt;\u2069\u2069"
    assert escaped("a</w>") == "a&lt;/w&gt;"


def test_isolates_and_accents_take_no_room() -> None:
    assert columns(escaped("שם")) == columns("שם")
    assert columns("e\u0301") == 1
    assert shorten_end("e\u0301" * 3, 2) == "e\u0301…"
    assert shorten_start("ab👩\u200d💻", 5) == "…👩\u200d💻"


def test_a_shortened_label_counts_what_is_shown_and_is_isolated() -> None:
    assert shorten_start("\u202e" * 3, 6) == "…+202E"
    assert shorten_end("\u202e" * 3, 6) == "U+202…"
    assert shorten_end("שלום עולם", 5) == "\u2068של…\u2069"
