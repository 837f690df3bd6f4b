"""What pages show of a run.

In: a run's id, or a corpus before training. Out: curves and tables, computed once and cached, the
sentence that tells why training stopped, and the tokenizer's files for download.

Open `results` first. `corpus_summary` describes a corpus, `downloads` offers the files.
"""
