"""Bars that compare what training text and held-out text consist of, by script and file type."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_core.corpus.composition import Composition
from ui.components.share_bars import ShareBar, share_bars

TRAINING, HELD_OUT = "Training text", "Held out"


def composition_groups(
    training: Composition, held_out: Composition | None
) -> Sequence[tuple[str, Sequence[ShareBar]]]:
    """Return the bars by script, and by file type if there are several types."""
    texts = [(TRAINING, training), *([(HELD_OUT, held_out)] if held_out is not None else [])]
    groups = [
        (
            "By script, in characters",
            [
                ShareBar(name, [(part.name, part.share) for part in found.scripts])
                for name, found in texts
            ],
        )
    ]
    if len(training.types) > 1:
        bars = [
            ShareBar(name, [(part.name, part.share) for part in found.types])
            for name, found in texts
        ]
        groups.append(("By file type, in bytes", bars))
    return groups


def show_composition(training: Composition, held_out: Composition | None, *, key: str) -> None:
    """Draw the bars."""
    share_bars(key=key, groups=composition_groups(training, held_out))
