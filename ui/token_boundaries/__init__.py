"""The parts of the Token boundaries page.

In: a file to open, and a token chosen in a text. Out: the visitor's text, how the token's
pre-token was merged, and the training lines it comes from.

Open `token_story` first, which draws how a token was made. `opened_file` offers examples and reads
an uploaded file, and `conversation` renders messages by a chat template. `components/token_view`
draws the text itself.
"""
