"""The pages of the app, by their names in the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PAGES: Final[Mapping[str, str]] = {
    "train": "Train",
    "merge_loop": "Merge loop",
    "pair_frequencies": "Pair frequencies",
    "token_boundaries": "Token boundaries",
    "compare": "Compare",
    "vocabulary": "Vocabulary",
    "adapt": "Adapt",
    "detective": "Detective",
    "experiments": "Experiments",
    "lab": "Lab",
    "lessons": "Lessons",
}
"""The title of each page but Start, which is at the bare address."""

START: Final = "A language model reads tokens, not words"

PAGES_OF_A_RUN: Final = tuple(name for name in PAGES if name not in ("detective", "lab", "lessons"))
