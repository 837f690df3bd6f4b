"""The parts of the Lab page.

In: a text and the run's tokenizer. Out: measurements as they arrive, in words, tables and charts.

Open `measurements` first: it starts the core's measuring process. `words` and `charts` show the
results, `card` shows the progress.
"""
