"""Store runs and visitors' files as entries of the store: see `bpe_core.files.store`.

In: a finished run, an upload or a long text. Out: an id for the address, which leads back to what
was stored.

Open `new_entries` first, which keeps an entry completely or not at all. `run_store` stores runs,
`run_files` what is kept next to each, `upload_store` visitors' files and texts, `corpus_store`
their corpora, and `base_tokenizer` the tokenizer that a run extends. `sweeping` deletes what nobody
has opened for long.
"""
