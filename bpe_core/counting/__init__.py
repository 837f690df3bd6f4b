"""Count the distinct pre-tokens of a text.

In: a corpus, or files too large for memory, and a pre-tokenizer. Out: `PretokenCounts`, in the
order of first occurrence. Pairs are not counted here: the trainers do that.

Open `words` first: it counts in plain Python, or has `compiled` do the same with kernels.
`streamed` reads files in pieces. `counts_file` keeps counts in Parquet files, and `counts_cut`
makes them and checks which pre-tokenizer cut the words.
`word_row` arranges the result for training. `count_files` counts more text than one machine holds,
and `word_parts` is what its workers do.
"""
