"""The parts of the Lab page.

In: a text and a tokenizer. Out: measurements with their progress, as sentences, tables and charts.

Open `measurements` first: it draws the choice of a text, starts the core's measuring process, and
finds what the address names.
`sections` draws its progress and its results, with `words` and `charts`.
"""
