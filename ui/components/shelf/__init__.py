"""Draw the compared tokenizers as cards: name, size and encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from ui.components.shared import make_component

_draw = make_component(__file__, "shelf")


@dataclass(frozen=True, slots=True)
class Card:
    """One tokenizer; its position determines its colour."""

    key: str
    name: str
    size: str
    facts: str
    note: str
    removable: bool = True


def shelf(cards: Sequence[Card], *, key: str, on_removed: Callable[[], None]) -> None:
    """Draw the cards as plain text.

    `on_removed` is called before the page reruns, with the card's key in the component's value
    `removed`.
    """
    _draw(
        key=key,
        data={"cards": [asdict(card) for card in cards]},
        on_removed_change=on_removed,
    )
