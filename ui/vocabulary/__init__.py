"""The parts of the Vocabulary page.

In: a tokenizer and a text to count its tokens on. Out: tables, trees, an audit and a smaller
vocabulary.

Open `inspection` first: the choice of a tokenizer and a text, and what is computed of them.
`audit_section`, `token_section` and `pruning_card` draw it. `search` keeps the filters in the
address, `background_work` runs long computations.
"""
