"""The lessons: their texts, the order of their steps, and what they compute.

In: what a visitor types into a lesson's fields. Out: text, tiles, and the code that just ran.

Open `order` first: the list of lessons, one module each. `parts` defines a lesson and a step;
`walk` is a finished training that can be inspected before each merge, and `shortcuts` shows what
goes wrong with a shortcut. `tiles` and `printing` show symbols and values; `sentences` describes a
training run in sentences that hold for any words.
"""
