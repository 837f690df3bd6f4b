"""Open a foreign tokenizer's files: the one road from bytes to an encoder.

In: files in memory, a path or a name. Out: an encoder, or a `BpeError`. Open `opening` first.
`open_encoder` also keeps what the first opening found out.
"""
