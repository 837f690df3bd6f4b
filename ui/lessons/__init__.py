"""The lessons: their texts, the order of their steps, and what they compute.

In: what a visitor types into a lesson's fields, and answers. Out: questions, text, tiles, and the
code that just ran.

Open `navigation` first: it lists the lessons, one module each, leads through their steps, and draws
a lesson for print. `parts` defines a lesson and a step, and what a step asks before it shows
anything. `walk` is a finished training that can be inspected before each merge, and `shortcuts`
shows what goes wrong with a shortcut. `tiles` draws symbols, and `printing` values and the source
of functions; `sentences` describes a training run in sentences that hold for any words.
"""
