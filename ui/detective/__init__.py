"""The parts of the Detective page.

In: a tokenizer and samples of text. Out: the shares of these kinds of text in what the tokenizer
was trained on, with the merges that say so.

Open `inference` first: the choice of samples, the work in the background, and how its result is
drawn.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from ui.detective.inference import choose_samples, draw_limits, draw_mixture, infer
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
