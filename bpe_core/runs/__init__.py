"""Training runs: training a tokenizer, and inspecting every step of the training afterwards.

In: a corpus and a `TrainingConfig`. Out: a `TrainingRun`, which holds the tokenizer and can
reconstruct any step of the training: pair counts, splits of words, the tokens of a text.

Start with `training`, then `run`, whose `pair_counts` gives the counts at any step and which counts
the tokens of a text after each merge. `special_runs` has what only a run that continues a base has,
or only a parity-aware one. `history` has the counts of pairs at all steps,
`statistics` figures of the whole run, and `trace` describes single merges.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.runs.history import PairLife, PairLives, find_opening_step
    from bpe_core.runs.run import RunOrigin, TrainingRun, count_ids, lay_out_tokens
    from bpe_core.runs.sample_checks import SampleFigures, check_parts, sample_check, tokens_by_cut
    from bpe_core.runs.special_runs import (
        Continuation,
        ParityHistory,
        TermCost,
        TermMerges,
        bytes_apart,
        parse_history,
        reviving_tokens,
        spell_in_bytes,
        spelled_by,
    )
    from bpe_core.runs.statistics import (
        PairMatrix,
        RankFrequency,
        by_heart_sentence,
        bytes_per_token_after,
        corners,
        count_once,
        elbow,
        enough_merges,
        further_gain,
        next_merges,
        pair_matrix,
        rank_frequency,
        steps_to_draw,
        stop_sentence,
        times,
        vocab_size_after,
    )
    from bpe_core.runs.training import (
        LargestSize,
        Watch,
        check_config,
        check_parity,
        count,
        largest_vocab_size,
        learn_run,
        train,
        version,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
