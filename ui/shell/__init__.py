"""What surrounds every page.

In: the address and the visitor's session. Out: the heading, the run picker, the run that the
address names, and the visitor's choices.

Open `frame` first; `run_picker` is in it. `workspace` is the only module that touches Streamlit's
session state; `choices` keeps a choice in the address. `file_upload` draws all uploaders and holds
one visitor's files to a limit, which `upload_limit` keeps on the server's side.
"""
