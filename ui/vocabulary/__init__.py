"""The parts of the Vocabulary page.

In: a tokenizer and a text to count its tokens on. Out: tables, trees, an audit and a smaller
vocabulary.

Open `choice` first, then `inspection`: what is computed of a tokenizer. `audit_section`,
`token_section` and `pruning_card` draw it, from what `findings` make of it. `search` keeps the
filters in the address, `background_work` runs long computations.
"""
