"""The parts of the Token boundaries page.

In: a token chosen in a text. Out: how its word was merged, and the training lines it comes from.

Open `token_story`; the text itself is drawn by `components/token_view`.
"""
