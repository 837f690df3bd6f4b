"""Contain unforeseen errors: the part that failed shows a message, and the rest keeps working.

In: an unforeseen exception. Out: a sentence on the page and a line in the log; neither quotes a
visitor's text.

Open `error_boundary` first: it is put around a page or a part of one. `unforeseen` writes the
message and the log entry.
"""
