"""Cache the script of each token of a base, and draw the scripts of removed tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.unicode.token_scripts import script_of_token
from ui.components.figures import FigureRow, figure_table
from ui.host.sized_cache import cached

_MOST_SCRIPTS: Final = 8


def scripts_of(tokenizer: Tokenizer) -> Mapping[int, str]:
    """Return the script of each token, by id."""
    return _scripts(tokenizer.fingerprint, tokenizer)


@cached()
def _scripts(fingerprint: str, _tokenizer: Tokenizer) -> Mapping[int, str]:
    return {id: script_of_token(token) for id, token in _tokenizer.vocab.items()}


def draw_by_script(base: Tokenizer, removed: Iterable[int], *, caption: str) -> None:
    """Draw a table of the most frequent scripts of the removed tokens, given by id."""
    script_of = scripts_of(base)
    scripts = Counter(script_of[id] for id in removed).most_common(_MOST_SCRIPTS)
    all_of = Counter(script_of.values())
    figure_table(
        ["Removed", "Of", "Share"],
        [
            FigureRow(script, (f"{n:,}", f"{all_of[script]:,}", f"{n / all_of[script]:.0%}"))
            for script, n in scripts
        ],
        caption=caption,
        key="removed_scripts",
    )
