"""Training runs: training a tokenizer, and inspecting every step of the training afterwards.

In: a corpus and a `TrainingConfig`. Out: a `TrainingRun`, which holds the tokenizer and can
reconstruct any step of the training: pair counts, splits of words, the tokens of a text.

Start with `train`, then `run`. `check_config`, `progress` and `learn` are parts of `train`.
`continuation` and `term_merges` hold what only a run that continues a base has. `pair_counts` finds
the counts of pairs at a step; `pair_statistics` and `pair_lives` (built on `pair_changes`) analyse
them. `trace` and `pair_ranking` describe single merges, and `token_curves` the number of tokens of
a text after each merge.
"""
