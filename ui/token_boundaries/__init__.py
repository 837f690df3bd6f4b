"""The parts of the Token boundaries page.

In: a file to open, and a token chosen in a text. Out: the visitor's text, how the token's
pre-token was merged, and the training lines it comes from.

Open `story_columns` first: it draws what `token_story` works out. `opened_file` reads an uploaded
file, and `conversation` renders messages by a chat template. The text itself is drawn by
`components/token_view`.
"""
