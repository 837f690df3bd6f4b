"""Store runs and visitors' files as entries of the store: see `bpe_core.files.store`.

In: a finished run, an upload or a long text. Out: an id for the address, which leads back to what
was stored.

Open `keeping` first, which keeps an entry completely or not at all, and deletes what nobody has
opened for long. `run_store` stores runs, `run_files` what is kept next to each, `upload_store`
visitors' files, texts and corpora, and `base_tokenizer` the tokenizer that a run extends.
"""
