"""The parts of the Lab page.

In: a text and a tokenizer. Out: measurements with their progress, as sentences, tables and charts.

Open `measurements` first: it starts the core's measuring process. `requests` starts and finds
measurements for the page, and `card` shows their progress. `sections` draws the results, with
`words` and `charts`.
"""
