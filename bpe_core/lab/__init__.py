"""The lab: encoders and trainers measured against each other.

In: a text and a tokenizer, or a text and a vocabulary size. Out: speeds, each with whether the
result equals the others'. Results are compared before anything is timed.

Open `contenders` first: what takes part. `measuring` times encoders, `growth` times trainers on
longer and longer texts, and `measurements` runs both in a process of their own.
"""
