"""Adapt an existing tokenizer to a text.

In: a tokenizer and a corpus. Out: a tokenizer, and for each of its ids the old ids whose embedding
rows it starts from.

Open `adapted` first, the result. `extend` continues the training of the base; `merge_terms` chooses
the merges for the user's terms before that, on the words in `term_words`. `shrink` removes leaves,
those used least first, with the row of words in `leaf_row`; `replace` shrinks and extends.
`reference` extends as plainly as possible; tests compare both.
"""
