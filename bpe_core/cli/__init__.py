"""The command line, `python -m bpe_core`.

In: files or standard input, named on the command line. Out: a tokenizer's file, ids, text or a
table on standard output. A `BpeError` ends as one line on standard error and exit status 1.

Start with `commands`: one function per command. `support` holds what they share, and `explore`
starts the app.
"""
