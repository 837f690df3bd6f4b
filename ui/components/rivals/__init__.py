"""Draw how many fewer tokens one tokenizer needs than each other one, with intervals.

The rows are the shelf, too: each has a button that removes its tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from ui.components.shared import make_component

_draw = make_component(__file__, "rivals")


@dataclass(frozen=True, slots=True)
class Rival:
    """One of the other tokenizers."""

    place: int
    """On the shelf, which determines its colour."""
    name: str
    facts: str
    """What encodes with it and where it comes from, shown in a tooltip."""
    vocabulary: str
    tokens: str
    figure: str
    """Such as "1.6% fewer", or why there is none; empty without a text."""
    interval: str
    """Such as "1.3% more to 4.3% fewer"; empty without an interval."""
    percent: float | None
    """Percent fewer tokens; None if the two cannot be compared."""
    low: float | None
    high: float | None


def draw_rivals(
    rows: Sequence[Rival],
    *,
    own_name: str,
    chosen: int,
    key: str,
    on_chosen: Callable[[], None],
    on_removed: Callable[[], None],
) -> None:
    """Draw a row for each; the name of each is a button that chooses it.

    `own_name` is the tokenizer that needs fewer tokens or more, as it stands within a sentence;
    `chosen` is the place of the one that the verdict names. The callbacks are called before the
    page reruns, with the place in the component's value `against` or `removed`.
    """
    _draw(
        key=key,
        data={"rows": [asdict(row) for row in rows], "name": own_name, "chosen": chosen},
        on_against_change=on_chosen,
        on_removed_change=on_removed,
    )
