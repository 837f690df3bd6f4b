"""Examine a finished vocabulary.

In: a tokenizer, and for some questions a run or a corpus. Out: its tokens as a searchable table,
two trees, an audit, the training lines behind a token, or a smaller tokenizer.

Open `table` first. `audit` and `reachability` find unused and unreachable tokens, `pruning` removes
them; `trees` has both trees, `provenance` finds the training lines, and `token_chains` decides
which tokens can be neighbours.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.vocabulary.auditing import Audit, audit, count_uses, uses_in_corpus, uses_in_run
    from bpe_core.vocabulary.provenance import MAX_SEARCHED, source_lines, token_origin
    from bpe_core.vocabulary.pruning import Pruned, added_in_run, keep_only, prune
    from bpe_core.vocabulary.reachability import REASONS, Reachability, find_unreachable
    from bpe_core.vocabulary.table import Query, SearchBy, SortBy, Vocabulary
    from bpe_core.vocabulary.trees import Derivations, PrefixTree
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
