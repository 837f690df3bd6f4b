"""The tokenizer: text to ids, and back.

In: a vocabulary, merges and a pre-tokenizer; then text or ids. Out: ids, text, the position of each
token in the text, or the merges that produced it.

Start with `tokenizer`; `encoding` and `decoding` do its work. `rank_merging` encodes a word by its
merges and explains it, `trie` encodes without merging; `tokenizer_kernels` decides when `compiled`
takes over. `tables` holds the vocabulary and the merges, and derives each lookup when it is asked.
`segments` and `segment_arrays` locate tokens in a text. `protocol` is the interface of every
encoder, and `gpt2` is GPT-2's tokenizer.
"""
