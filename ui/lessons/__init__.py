"""The lessons: their words, and the order of their steps. The core computes what they show.

In: what a visitor types into a lesson's fields. Out: text, tiles, and the code that just ran.

Open `order` first: the list of lessons, one module each. `parts` says what a lesson and a step are;
`tiles`, `printing` and `source` draw symbols, values and code; `sentences` says what came of a
training, whatever its words were.
"""
