"""Compute what pages show about a run.

In: a run's id, or a corpus before training. Out: curves and tables, computed once and cached,
and the tokenizer's files for download.

Open `results` first. `corpus_summary` describes a corpus, `downloads` makes the files and
checks that other libraries open them, and `download_rows` draws both. `training_card` draws the
training that a visitor waits for.
"""
