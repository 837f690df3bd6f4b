"""The parts of the Compare page.

In: the tokenizers on the shelf, the held-out text and the visitor's own. Out: a verdict, a passage
with its differences marked, figures, terms and costs, languages, and a report to download.

Open `evaluation` first, which chooses the text, and `compared`, which compares on a sample or on
the whole of it. Each part of the page has a module: `verdict_part`, `passage`, `figures_part`,
`terms_part` with `costs_part`, and `languages`. `report` writes them all as one file.
"""
