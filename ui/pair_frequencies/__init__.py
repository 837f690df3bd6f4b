"""The parts of the Pair frequencies page, which draw counts from the core.

In: a stored run and the chosen step. Out: the pairs of one step, the life of one pair, the gain
from a larger vocabulary, and whether more text would change it.

Open `step` first: with `pair_life`, which also holds the sentences and tables, it is the part on
pairs. `size_part` is the part on sizes.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.pair_frequencies.pair_life import draw_life, shown_pair
    from ui.pair_frequencies.size_part import draw_sample_check, draw_vocabulary_size
    from ui.pair_frequencies.step import choose_step, draw_pictures, draw_whole_run
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
