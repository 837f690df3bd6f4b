"""You against BPE: a game in which a visitor and BPE have the same number of merges on one text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from ui.components.shared import make_component
from ui.components.story import story_data

_game = make_component(__file__, "game", styles=("../merge_player/controls", "game"))


@dataclass(frozen=True, slots=True)
class _Level:
    """A text to play on, as its words with their counts, and how many merges each side has."""

    name: str
    about: str
    counts: tuple[tuple[str, int], ...]
    most: int


_BEATABLE: Final = _Level(
    "A text you can beat",
    "Three merges each on here (6 times), reader (5) and hen (3). Fewest tokens wins.",
    (("here", 6), ("reader", 5), ("hen", 3)),
    3,
)
"""BPE joins e and r first here, because that pair is the most frequent."""


def game_data() -> dict[str, Any]:
    """Return the levels of the game, as `SentLevel` in game.js."""
    first = {
        "name": "A page of Shakespeare",
        "about": "You and byte-pair encoding (BPE) have ten merges each on one text. "
        "Fewest tokens wins.",
        "text": story_data()["seen"],
        "most": 10,
    }
    return {"levels": [first, asdict(_BEATABLE)]}


def draw_game(*, key: str) -> None:
    """Draw the game; all of it runs in the browser."""
    _game(key=key, data=game_data(), width="stretch", height="content")
