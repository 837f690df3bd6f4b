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
    from bpe_core.adapting.adapted import NO_OLD_ID, Adapted, trace_ids
    from bpe_core.adapting.extending import (
        DEFAULT_COVERAGE,
        WORTH,
        Advice,
        KindGain,
        add_characters,
        advise_size,
        count_after_new_tokens,
        cut_after,
        extend,
        extendable,
        gain_by_kind,
        list_new_ids,
    )
    from bpe_core.adapting.shrinking import (
        RemovalOrder,
        Removals,
        extend_to_size,
        removals_to_replace,
        remove_leaves,
        replace,
        shrink,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
