"""Three trainers that learn the same merges, and others that learn differently.

In: distinct pre-tokens with their counts, and a vocabulary of base symbols. Out: the merges in
order, and the reason training stopped.

Start with `reference`: a trainer and an encoder written as plainly as possible, against which the
others are tested. `incremental` is plain Python that revisits only what changed; `compiled` does
the same with kernels. `parity` and `parity_compiled` learn parity-aware merges. Between merges,
each asks whether to stop, and keeps those learned so far. `base_vocabulary` builds the vocabulary
that all three start from, `continued` the one of continued training with its forbidden
pairs, and `pair_table` counts the pairs before the first merge.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.trainers import compiled, incremental, reference
    from bpe_core.trainers.base_vocabulary import GrowingVocabulary, split_symbols
    from bpe_core.trainers.continued import AllowedPairs, ContinuedVocabulary, ForbiddenPairs
    from bpe_core.trainers.fastest import learn_merges, learn_parity, text_bytes
    from bpe_core.trainers.incremental import LearnedMerges, MergeState
    from bpe_core.trainers.pair_rules import find_rule, is_superword, vetoed_patterns, vetoed_texts
    from bpe_core.trainers.pair_tables import (
        BITS,
        RIGHT,
        Entry,
        PairQueue,
        PairTable,
        argsort_stable,
        pair_table,
        sort_keys,
        sum_runs,
        unpack_pair,
    )
    from bpe_core.trainers.parity import (
        TOGETHER,
        LearnedParity,
        ParityRule,
        learn_parity_reference,
    )
    from bpe_core.trainers.picky import PickyState, joined_by, train_picky_reference
    from bpe_core.trainers.reference import (
        ReferenceRun,
        apply_merge,
        choose_pair,
        count_pairs,
        count_words,
        encode_reference,
        order_pairs,
        short_pairs,
        train_reference,
    )
    from bpe_core.trainers.superwords import train_superwords_reference
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
