"""Examine a finished vocabulary.

In: a tokenizer, and for some questions a run or a corpus. Out: its tokens as a searchable table,
two trees, an audit, the training lines behind a token, or a smaller tokenizer.

Open `token_table` first, which has both trees too. `auditing` finds unused tokens and removes them,
`reachability` finds those that no text encodes to, and `provenance` finds the training lines.
`mixtures` infers from the order of the merges what the tokenizer was trained on.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.vocabulary.auditing import (
        Audit,
        Pruned,
        count_uses,
        uses_in_corpus,
    )
    from bpe_core.vocabulary.mixtures import (
        Mixture,
        Witness,
        mixture,
        shipped_samples,
    )
    from bpe_core.vocabulary.provenance import SourceLines, token_origin
    from bpe_core.vocabulary.reachability import (
        Reachability,
        TokenChains,
    )
    from bpe_core.vocabulary.token_table import (
        Derivations,
        PrefixTree,
        Query,
        Vocabulary,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
