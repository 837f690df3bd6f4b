"""Compute what the lessons show, step by step.

In: a few words or sentences. Out: what the reference trainer does with them, merge by merge, and
what goes wrong with a shortcut.

Open `walk` first: a finished training that can be inspected before each merge. `shortcuts` shows
the mistakes.
"""
