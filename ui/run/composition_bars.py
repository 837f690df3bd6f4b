"""Bars that compare training text and held-out text by script, file type and file.

The two together are the corpus, so bars of equal shares mean that both are like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bpe_core.corpus.composition import WITHOUT_TYPE, Composition, FileShare
from ui.components.share_bars import ShareBar, share_bars

TRAINING, HELD_OUT = "Training text", "Held out"
_MAX_FILES: Final = 12
_OTHER_FILES: Final = "other files"


def composition_groups(
    training: Composition, held_out: Composition | None
) -> Sequence[tuple[str, Sequence[ShareBar]]]:
    """Return the bars by script, and by file type and file if there are several.

    Files that are the only one of their type are not repeated, and documents that are not
    files, such as pasted text, have no bars.
    """
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
    types, files = training.types, training.files
    if len(types) > 1:
        bars = [
            ShareBar(name, [(part.name, part.share) for part in found.types])
            for name, found in texts
        ]
        groups.append(("By file type, in bytes", bars))
    are_files = any(part.name != WITHOUT_TYPE for part in types)
    if are_files and len(files) > len(types):
        largest = [part.name for part in files[:_MAX_FILES]]
        bars = [ShareBar(name, _largest_shares(largest, found.files)) for name, found in texts]
        groups.append(("By file, in bytes", bars))
    return groups


def show_composition(training: Composition, held_out: Composition | None, *, key: str) -> None:
    """Draw the bars."""
    share_bars(key=key, groups=composition_groups(training, held_out))


def _largest_shares(names: Sequence[str], files: Sequence[FileShare]) -> list[tuple[str, float]]:
    """Return the shares of these files, and that of all others together if there are any."""
    share_of = {part.name: part.share for part in files}
    shares = [(name, share_of.pop(name, 0.0)) for name in names]
    return [*shares, (_OTHER_FILES, sum(share_of.values()))] if share_of else shares
