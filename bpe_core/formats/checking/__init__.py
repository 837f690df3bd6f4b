"""Check that the library that a format is for opens the file and gives the same ids.

In: a `Tokenizer` and a probe. Out: an `Opened` for each library. Open `opened_elsewhere` first.
"""
