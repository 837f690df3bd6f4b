"""The parts of the Train page.

In: uploads, pasted text or a sample, and settings. Out: a running training, and its result.

Open `corpus_form` first; then, in the order of the page, `settings_form`, `training_card` and
`result_card`.
"""
