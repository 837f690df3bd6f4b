"""The command line, `python -m bpe_core`.

In: files or standard input, named on the command line. Out: a tokenizer's file, ids, text or a
table on standard output. A `BpeError` ends as one line on standard error and exit status 1.

Start with `commands`: the group `bpe` and its commands, each in a module named after it. `options`
and `support` hold what commands share, and `explore` starts the app.
"""
