"""Measure encoders and trainers against each other.

In: a text and a tokenizer, or a text alone. Out: speeds, and whether each result equals the
expected one. Results are compared before anything is timed.

Open `contenders` first: it lists what is measured. `measuring` times encoders, and `measurements`
times trainers on longer and longer texts; it runs either in a separate process.
"""
