"""Three trainers that learn the same merges.

In: distinct pre-tokens with their counts, and a vocabulary of base symbols. Out: the merges in
order, and the reason training stopped.

Start with `reference`: a trainer and an encoder written as plainly as possible, against which the
others are tested. `incremental` is plain Python that revisits only what changed; `compiled` does
the same with kernels. Between merges, each asks whether to stop, and keeps those learned so far.
`base_vocabulary` builds the vocabulary that all three start from, `continued` the one of continued
training with its forbidden pairs, and `pair_table` counts the pairs before the first merge.
"""
