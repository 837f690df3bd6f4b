"""Training: several trainers, and the run that one of them makes, with every step of it.

In: a corpus and a `TrainingConfig`. Out: a `TrainingRun`, which holds the tokenizer and can
reconstruct any step of the training: pair counts, splits of words, the tokens of a text.

Start with `reference`: a trainer and an encoder written as plainly as possible, against which the
others are tested. `incremental` is plain Python that revisits only what changed; `parity`
learns parity-aware merges, and `compiled` the same as either with kernels. Between merges, each
asks whether to stop, and keeps those learned so far.
`base_vocabulary` builds the vocabulary that they start from, `continued` the one of continued
training with its forbidden pairs, and `pair_tables` counts the pairs before the first merge.

`merge_terms` chooses merges for a user's terms before those that are learned; `plain_extending` is
the twin of continued training, and `by_language` trains so that languages cost alike.

`training` has a corpus counted and its merges learned, and returns a `run`, whose `pair_counts`
gives the counts at any step and which counts the tokens of a text after each merge. `special_runs`
has what only a run that continues a base has, or only a parity-aware one. `history` has the counts
of pairs at all steps, `statistics` the figures of a run that are drawn, and `trace` describes
single merges.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.trainers import compiled, incremental, reference
    from bpe_core.trainers.base_vocabulary import GrowingVocabulary, split_symbols
    from bpe_core.trainers.by_language import beside_plain, train_by_language, train_parity
    from bpe_core.trainers.continued import ContinuedVocabulary
    from bpe_core.trainers.history import PairLife, PairLives
    from bpe_core.trainers.merge_terms import find_term_forms
    from bpe_core.trainers.pair_rules import is_superword
    from bpe_core.trainers.pair_tables import PairCount
    from bpe_core.trainers.parity import ParityRule, learn_parity_reference
    from bpe_core.trainers.picky import train_picky_reference
    from bpe_core.trainers.plain_extending import ReferenceCorpus, encode_word, extend_reference
    from bpe_core.trainers.reference import (
        ReferenceRun,
        apply_merge,
        choose_pair,
        count_pairs,
        count_words,
        encode_reference,
        short_pairs,
        train_reference,
    )
    from bpe_core.trainers.run import RunOrigin, TrainingRun, count_ids, count_with_missing
    from bpe_core.trainers.sample_checks import (
        SampleFigures,
        check_parts,
        sample_check,
        tokens_by_cut,
    )
    from bpe_core.trainers.special_runs import (
        Continuation,
        ParityHistory,
        TermCost,
        parse_history,
        reviving_tokens,
        spell_in_bytes,
        spelled_by,
    )
    from bpe_core.trainers.statistics import PairPicture, RunCurves, steps_to_draw
    from bpe_core.trainers.superwords import train_superwords_reference
    from bpe_core.trainers.trace import MergeTrace
    from bpe_core.trainers.training import (
        LargestSize,
        Watch,
        check_config,
        continue_run,
        count,
        train,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
