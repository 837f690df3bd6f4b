"""Draw texts as ribbons: a bar for each token, as wide as its bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ui.components.shared import make_component

_ribbons = make_component(__file__, "ribbons", styles=("../shared/ribbon", "ribbons"))


def draw_ribbons(texts: Sequence[tuple[str, Mapping[str, Any]]], *, key: str) -> None:
    """Draw named texts, each as `Ribbon.pack` packs it."""
    rows = [{"name": name, **ribbon} for name, ribbon in texts]
    _ribbons(key=key, data={"texts": rows})
