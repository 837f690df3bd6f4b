"""Draw a text next to what a normalizer made of it, with the changes marked in both."""

from __future__ import annotations

from collections.abc import Sequence

from ui.components.shared import make_component

_draw = make_component(__file__, "normalized_text", html="<div class='normalized'></div>")


def normalized_text(pieces: Sequence[tuple[str, str]], *, sentence: str, key: str) -> None:
    """Draw pieces of a text, each with its normalised form; `sentence` says what is shown."""
    _draw(key=key, data={"pieces": list(pieces), "sentence": sentence})
