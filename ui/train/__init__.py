"""The parts of the Train page.

In: uploads, pasted text or a sample, and settings. Out: a running training, and its result.

Open `forms` first; then, in the order of the page, `settings_form` and `result_card`. `cuts` draws
how a text is cut, and measures which of the `presets` would cut it best. The corpus form is in
`ui.corpus`, and the card of a running training in `ui.run`.
"""
