"""The lessons: their texts and the order of their steps. The core computes what they show.

In: what a visitor types into a lesson's fields. Out: text, tiles, and the code that just ran.

Open `order` first: the list of lessons, one module each. `parts` defines a lesson and a step;
`tiles` and `printing` show symbols and values; `sentences` describes a training run
in sentences that hold for any words.
"""
