"""Draw what surrounds every page.

In: the address and the visitor's session. Out: the heading, the run picker, the run named in the
address, and the visitor's choices.

Open `frame` first; it draws the `run_picker` and shows the run that `open_run` finds.
`workspace` is the only module that touches Streamlit's session state; `address` reads and writes
parameters of a page's address, `choices` keeps a choice there, `recent_runs` keeps a visitor's runs
in the browser, and `given_corpus` the corpus given last. `following` finds the training that a
visitor waits for. `action_row` keeps a form's button in view. `file_upload` draws all uploaders and
limits the total size of a visitor's files.
"""
