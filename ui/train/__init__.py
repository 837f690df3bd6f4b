"""The parts of the Train page.

In: uploads, pasted text or a sample, and settings. Out: a training under way, and its result.

Open `corpus_form` first; `settings_form`, `training_card` and `result_card` follow down the page.
"""
