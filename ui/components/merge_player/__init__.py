"""The merge player: play a run's merges on words, next to the race of the most frequent pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bpe_core.views import View
from ui.components.shared import make_component

_player = make_component(__file__, "merge_player", "player", styles=View.STYLES["merge_player"])
_messages = make_component(__file__, "merge_player_messages", "messages_from_python")


def draw_merge_player(
    *, key: str, run: bytes, on_step: Callable[[], None], on_words: Callable[[], None]
) -> object:
    """Draw the player for a run from `bpe_core.views.PlayedRun`; return the blocks it requests.

    The request is the numbers of the first and last missing block, unchecked as the browser sent
    them, or None; answer it with `send_block`. `on_step` is called when the cursor comes to rest,
    with the number of merges done in the component's value `step`; `on_words` when the visitor's
    words, in `words`, have changed. The data depends on the run alone, so a rerun sends nothing
    again; the starting step comes from the address (`?step=`), or else is the run's opening step.
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
    """Send the player with the key `player` a block of merges from `PlayedRun.pack_merges`.

    The player keeps its blocks, so each is sent once, when requested.
    """
    _messages(key=f"{player}-block", data=block)


def send_own_words(*, player: str, words: Sequence[Sequence[int | str]], problem: str = "") -> None:
    """Send the player with the key `player` the visitor's words, or why they cannot be used."""
    _messages(
        key=f"{player}-own-words",
        data={"player": player, "words": words, "problem": problem},
    )
