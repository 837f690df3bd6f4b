"""Compare several tokenizers on the same text.

In: encoders and a corpus, or the same sentences in many languages. Out: figures for each tokenizer,
the spans that they split differently, and how sure the difference is.

Start with `comparison`. `spans` encodes texts, `text_map` finds the kind and script of each token,
`measurement` counts, and `metrics` computes the figures. `blocks` divides the text, and `parts`
resamples the blocks: it gives the difference with its interval, on all of the text and on parts of
it, which `interval_words` describes. `alignment` finds the spans, and `languages` compares the cost
of languages. `terms` cuts a list of words and sorts it by loss, and `costs` turns tokens and
vocabularies into money, context windows and parameters.
"""
