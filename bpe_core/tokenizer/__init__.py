"""The tokenizer: text to ids, and back.

In: a vocabulary, merges and a pre-tokenizer; then text or ids. Out: ids, text, the place of each
token in the text, or the merges that led to it.

Open `tokenizer` first. `rank_merging` encodes a word by its merges, `trie` without merging;
`use_kernels` decides when `compiled` takes over. `segments` and `segment_arrays` place tokens in a
text. `protocol` is what every encoder offers, and `gpt2` is GPT-2's tokenizer.
"""
