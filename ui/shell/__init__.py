"""Draw what surrounds every page.

In: the address and the visitor's session. Out: the heading, the run picker, the run named in the
address, and the visitor's choices.

Open `frame` first; it draws the picker of `recent_runs` and shows the run that `open_run` finds.
`workspace` is the only module that touches Streamlit's session state; `address` reads and writes
parameters of a page's address, and `recent_runs` keeps runs and the corpus given last in the
browser. `open_run` finds the training that a visitor waits for, too. `form_fields` draws choices,
numbers and the row of a form's button. `file_upload` draws all uploaders and limits the total size
of a visitor's files.
"""
