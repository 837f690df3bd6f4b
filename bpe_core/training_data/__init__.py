"""Encode a corpus of any size into files of token ids that training loops read.

In: a tokenizer, and files by path or URL. Out: a folder of shards and a manifest. The same input
gives the same bytes, whatever the number of workers and however often the run was interrupted.

Open `encode_corpus` first, the steps in order: `preparing` opens the tokenizer and divides the
text, `stretch_ids` encodes a stretch of it into the work folder, `shard_files` says which documents
each shard holds and writes one in a format of `shard_formats`. `kept_columns` keeps columns of rows
next to the ids. `manifest` describes the folder, and checks it.
"""
