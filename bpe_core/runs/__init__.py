"""A training run: how it is made, and what can be asked of it afterwards.

In: a corpus and a `TrainingConfig`. Out: a `TrainingRun`, which holds the tokenizer and answers for
every step of the training: pair counts, splits of words, tokens of a text.

Open `train` first, then `run`. `check_config` and `watch` are parts of `train`. The others answer
one question each: `pair_statistics` and `pair_lives` about counts, the latter from what
`pair_changes` finds, `trace` and `pair_ranking` about single merges, `token_curves` about how long
a text gets.
"""
