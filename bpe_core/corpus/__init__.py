"""The text to train on or to measure.

In: files, archives, tables, pasted text, words with counts, or a sample's name. Out: a `Corpus` of
documents, or an error that names the file and the place.

Open `corpus` first, then `read_corpus`. `file_kinds` recognises files by their names and first
bytes; `readers`, `archives`, `tables` and `text_decoding` read them within a `budget`, Parquet
files in their own process (`parquet_process`). `samples` has the built-in corpora, `held_out`
chooses the part kept from training, `held_out_file` writes it, `trained_on` recognises what a
tokenizer was trained on, `spans` where to cut, and `composition` returns the shares of
files, file types and scripts. `corpus_files` writes a corpus to disk, and `filed_texts` reads its
documents one at a time.
"""
