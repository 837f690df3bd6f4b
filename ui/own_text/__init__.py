"""A visitor's own text, which several pages share.

In: what is typed, pasted or named in the address. Out: the text, and its tokens packed for the
browser.

Open `field` first: what is typed, its address, its storage. `own_reading` encodes the text for one
tokenizer.
"""
