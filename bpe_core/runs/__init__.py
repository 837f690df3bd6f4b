"""Training runs: training a tokenizer, and inspecting every step of the training afterwards.

In: a corpus and a `TrainingConfig`. Out: a `TrainingRun`, which holds the tokenizer and can
reconstruct any step of the training: pair counts, splits of words, the tokens of a text.

Start with `train`, then `run`, whose `pair_counts` gives the counts at any step. `check_config`,
`progress` and `stop_reasons` are parts of `train`. `continuation` holds what only a run that
continues a base has. `pair_statistics` and `pair_lives` (built on `pair_changes`) analyse the
counts of pairs. `trace` describes single merges, and `token_curves` the number of tokens of a text
after each merge.
"""

from typing import TYPE_CHECKING

from bpe_core.lazy import lazy_exports

# pyright: reportUnusedImport=false
if TYPE_CHECKING:
    from bpe_core.runs import close_races
    from bpe_core.runs.close_races import opening_step
    from bpe_core.runs.config_checks import check_config, check_coverage
    from bpe_core.runs.continuation import (
        Continuation,
        TermCost,
        TermMerges,
        bytes_apart,
        reviving_tokens,
        spell_in_bytes,
        spelled_by,
    )
    from bpe_core.runs.largest_size import LargestSize, largest_vocab_size
    from bpe_core.runs.pair_lives import PairLife, PairLives
    from bpe_core.runs.pair_statistics import (
        PairMatrix,
        RankFrequency,
        bytes_per_token_after,
        corners,
        elbow,
        further_gain,
        next_merges,
        pair_matrix,
        rank_frequency,
        steps_to_draw,
        vocab_size_after,
    )
    from bpe_core.runs.progress import Watch
    from bpe_core.runs.run import RunOrigin, TrainingRun
    from bpe_core.runs.sample_checks import SampleFigures, check_parts, sample_check, tokens_by_cut
    from bpe_core.runs.stop_reasons import by_heart_sentence, count_once, stop_sentence, times
    from bpe_core.runs.token_curves import count_ids, lay_out_tokens
    from bpe_core.runs.training import count, learn_run, train
else:
    __getattr__, __dir__ = lazy_exports(__name__, __file__)
