"""Several tokenizers on the same text.

In: encoders and a corpus, or the same sentences in many languages. Out: figures for each tokenizer,
and the spans that they cut differently.

Open `comparison` first. `alignment` finds the spans, `metrics` computes the figures, `languages`
compares the cost of languages.
"""
