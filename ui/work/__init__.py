"""Long work in the background.

In: a function that reports progress and can be cancelled. Out: its result, or what went wrong; a
page shows its progress meanwhile.

Open `background` first. `jobs` are trainings, `background_card` is what a waiting visitor sees.
"""
