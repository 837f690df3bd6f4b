"""Adapt an existing tokenizer to a text.

In: a tokenizer and a corpus. Out: a tokenizer, and for each of its ids the old ids whose embedding
rows it starts from.

Open `adapted` first, the result. `extend` continues the training of the base; `merge_terms` chooses
the merges for the user's terms before that. `shrink` removes leaves, those used least first;
`replace` shrinks and extends. `by_language` trains so that languages cost alike. `plain_extending`
extends as plainly as possible; tests compare both.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.adapting.adapted import NO_OLD_ID, Adapted, count_with_missing, trace_ids
    from bpe_core.adapting.by_language import beside_plain, train_by_language, train_parity
    from bpe_core.adapting.extending import (
        DEFAULT_COVERAGE,
        WORTH,
        Advice,
        KindGain,
        add_characters,
        advise_size,
        continue_run,
        count_after_new_tokens,
        cut_after,
        extend,
        extendable,
        gain_by_kind,
        list_new_ids,
        train_superwords,
    )
    from bpe_core.adapting.plain_extending import ReferenceCorpus, encode_word, extend_reference
    from bpe_core.adapting.replacing import extend_to_size, removals_to_replace, replace
    from bpe_core.adapting.shrinking import RemovalOrder, Removals, remove_leaves, shrink
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
