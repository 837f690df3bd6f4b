"""Three trainers that learn the same merges.

In: distinct pre-tokens with their counts, and a vocabulary that holds the base symbols. Out: the
merges, in order, and why the training stopped.

Open `reference` first: trainer and encoder as plainly as they can be written, the oracle of the
others. `incremental` is plain Python that revisits only what changed; `compiled` calls kernels.
`base_vocabulary` is what all three start from.
"""
