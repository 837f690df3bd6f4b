"""The merge player: plays a run's merges on words, beside the race of the most frequent pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent

_player = component(
    "bpe.merge_player",
    html=(_HERE / "player.html").read_text("utf-8"),
    css=component_css(_HERE, "player"),
    js=join_modules(_HERE / "player.js"),
    isolate_styles=True,
)
_courier = component("bpe.merge_player_courier", js=join_modules(_HERE / "courier.js"))


def merge_player(
    *, key: str, run: bytes, on_step: Callable[[], None], on_words: Callable[[], None]
) -> object:
    """Draws the player over a run as `packing.pack_run` gives it; gives the blocks it asks for.

    Those are the numbers of the first and the last block whose merges it lacks, as the browser said
    them, or None; see `send_block`. Calls `on_step` when the cursor comes to rest: the component's
    value `step` is then the number of merges done; and `on_words` when `words`, the visitor's own,
    changed. Where the player starts is in the address (`?step=`), not in the data: what is sent
    depends on the run alone, so that a rerun sends nothing again.
    """
    values = _player(
        key=key,
        data=run,
        on_step_change=on_step,
        on_words_change=on_words,
        on_block_change=lambda: None,
        width="stretch",
        height="content",
    )
    return values.get("block")


def send_block(*, player: str, block: bytes) -> None:
    """Gives the player with the key `player` a block of merges, as `packing.pack_block` does.

    The player keeps what it gets: each block is sent when it is asked for, once.
    """
    _courier(key=f"{player}-block", data=block)


def send_own_words(*, player: str, words: Sequence[Sequence[int | str]], problem: str = "") -> None:
    """Gives the player with the key `player` a visitor's words, or says why it can't have them."""
    _courier(
        key=f"{player}-own-words",
        data={"player": player, "words": words, "problem": problem},
    )
