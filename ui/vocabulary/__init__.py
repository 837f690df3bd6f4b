"""The parts of the Vocabulary page.

In: a tokenizer and a text to count its tokens on. Out: tables, trees, an audit and a smaller
vocabulary.

Open `choice` first, then `inspection`: what is computed of a tokenizer. `audit_section`,
`token_section` and `pruning_card` draw it, from what `findings` and `charts` make of
it. `address` and `search` keep the filters, `background_work` runs long
computations.
"""
