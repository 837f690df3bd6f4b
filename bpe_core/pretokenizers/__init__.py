"""Cut a text into pre-tokens, which merges never cross.

In: a text. Out: special tokens and the text between them, and that text cut into pre-tokens.

Open `pretokenizers` first: the patterns of GPT-2, GPT-4 and GPT-4o, and others. `special_tokens`
makes the first cut. For kernels, `scanners` numbers the patterns and `blocks` cuts long texts.
"""
