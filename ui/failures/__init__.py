"""Where an unforeseen error ends: the part that failed says so, and the rest works on.

In: an exception that nobody foresaw. Out: a sentence on the page and a line in the log; neither
quotes a visitor's text.

Open `error_boundary` first: it is drawn around a page or a part of it. `unforeseen` words it.
"""
