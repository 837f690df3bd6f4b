"""Compare several tokenizers on the same text.

In: encoders and a corpus, or the same sentences in many languages. Out: figures for each tokenizer,
and the spans that they split differently.

Start with `comparison`. `alignment` finds the spans, `metrics` computes the figures, and
`languages` compares the cost of languages.
"""
