"""Long work in the background.

In: a function that reports progress and can be cancelled. Out: its result, or what went wrong; a
page shows the progress meanwhile.

Open `background` first. `jobs` trains; `background_card` shows a waiting visitor the
progress.
"""
