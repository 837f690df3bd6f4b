"""The parts of the Vocabulary page.

In: a tokenizer and a text to count its tokens on. Out: tables, trees, an audit and a smaller
vocabulary.

Open `choice` first, then `looks`: what is computed of a tokenizer. `pictures` and `charts` draw it,
`search` filters it, `work` and `previews` run long computations in the background.
"""
