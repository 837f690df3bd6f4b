"""Run tokenizers: what plain byte-pair encoding cannot do is left to another library.

In: a tokenizer's parts, as its description has them. Out: an `Encoder`. Open `run_by_tokenizers`
first.
"""
