"""The parts of the Compare page.

In: the tokenizers on the shelf, the held-out text and the visitor's own. Out: a verdict, a passage
with its differences marked, figures, languages, and a report to download.

Open `shelf_form` first, then `evaluation`, which chooses the text, and `compared`, which compares
on a sample or on the whole of it. `verdict`, `passage`, `figures_part` and `languages` follow down
the page.
"""
