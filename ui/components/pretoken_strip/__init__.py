"""Draw the pre-tokens of a short text, each in a box."""

from __future__ import annotations

from collections.abc import Sequence

from ui.components.shared import make_component

_draw = make_component(__file__, "pretoken_strip", html="<div class='strip' role='list'></div>")


def pretoken_strip(*, key: str, pretokens: Sequence[str]) -> None:
    """Draw pre-tokens in a row; no merge crosses the gaps between them."""
    _draw(key=key, data={"pretokens": list(pretokens)})
