"""Training runs: training a tokenizer, and inspecting every step of the training afterwards.

In: a corpus and a `TrainingConfig`. Out: a `TrainingRun`, which holds the tokenizer and can
reconstruct any step of the training: pair counts, splits of words, the tokens of a text.

Start with `train`, then `run`, whose `pair_counts` gives the counts at any step. `check_config`,
`progress` and `stop_reasons` are parts of `train`. `continuation` holds what only a run that
continues a base has. `pair_statistics` and `pair_lives` (built on `pair_changes`) analyse the
counts of pairs. `trace` describes single merges, and `token_curves` the number of tokens of a text
after each merge.
"""
