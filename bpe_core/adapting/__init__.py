"""Adapt an existing tokenizer to a text.

In: a tokenizer and a corpus. Out: a tokenizer, and for each of its ids the old ids whose embedding
rows it starts from.

Open `adapted` first, the result. `extending` continues the training of the base, as `trainers` does
it; `shrinking` removes leaves, those used least first, and `replace` there does both.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.adapting.adapted import Adapted
    from bpe_core.adapting.extending import (
        DEFAULT_COVERAGE,
        Advice,
        KindGain,
        extend,
        extendable,
    )
    from bpe_core.adapting.shrinking import RemovalOrder, Removals, replace, shrink
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
