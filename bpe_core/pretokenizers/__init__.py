"""Cut a text into pre-tokens, which merges never cross.

In: a text. Out: special tokens and the text between them, and that text cut into pre-tokens.

Open `pretokenizers` first, and `named_patterns` for the patterns of GPT-2, GPT-4, Llama 3 and
others. `special_tokens` makes the first cut, and `added_tokens` cuts around the tokens that are
found in any text. For kernels, `automaton` compiles a pattern, `scanners` keeps the tables and
`blocks` cuts long texts.
"""
