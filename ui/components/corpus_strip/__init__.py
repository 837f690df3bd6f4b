"""Draw the figures of a corpus, such as its documents and bytes."""

from __future__ import annotations

from collections.abc import Sequence

from ui.components.shared import make_component

_draw = make_component(__file__, "corpus_strip", html="<div class='corpus'></div>")


def corpus_strip(
    *,
    key: str,
    figures: Sequence[tuple[str, str, Sequence[tuple[str, str]]]],
    is_line: bool = False,
) -> None:
    """Draw figures: each a number, what it counts, and terms to explain with definitions.

    In a line, what a number counts is next to it, not below it.
    """
    _draw(
        key=key,
        data={
            "is_line": is_line,
            "figures": [
                {"value": value, "name": name, "terms": list(terms)}
                for value, name, terms in figures
            ],
        },
    )
