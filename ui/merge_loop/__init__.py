"""The parts of the Merge loop page.

In: a stored run. Out: its data packed for the merge player, and the player as one HTML file that
works offline.

`player_run` packs the data and writes the file, and draws who picked each merge, and what each
language costs, in a parity-aware run. The player is in `components/merge_player`.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.merge_loop import player_run
    from ui.merge_loop.player_run import show_languages
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
