"""Find the components' styles and scripts, which lie next to the app's Python."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).absolute().parents[2]
INSTALLED: Final = CHECKOUT / "bpe_explorer"
"""In a wheel the app is a folder of its own; in a checkout it is next to the library."""

COMPONENTS: Final = (INSTALLED if INSTALLED.is_dir() else CHECKOUT) / "ui" / "components"

VIEW_STYLES: Final = ("pane", "view")
COMPARE_STYLES: Final = ("pane", "compare")
PLAYER_STYLES: Final = ("controls", "words", "race", "player")


def component_css(folder: Path, *names: str) -> str:
    """Return the shared style sheet, followed by each `name.css` of a component's folder.

    >>> ".player" in component_css(COMPONENTS / "merge_player", *PLAYER_STYLES)
    True
    """
    shared = COMPONENTS / "shared" / "tokens.css"
    paths = (shared, *(folder / f"{name}.css" for name in names))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def zip_to_text(message: bytes) -> str:
    """Compress a message for a page, in base64.

    >>> gzip.decompress(base64.b64decode(zip_to_text(b"hug" * 99))) == b"hug" * 99
    True
    """
    # Without a time stamp, so that the same run gives the same file. Level 9 takes four times as
    # long as 6 and saves 1 %.
    return base64.b64encode(gzip.compress(message, 6, mtime=0)).decode()
