"""What is kept on disk, in folders whose names nobody can guess.

In: a finished run, an upload, a long text. Out: an id for the address, and from the id what was
kept.

Open `store` first. `run_store` keeps runs, `training_text` the text that each was trained on,
`upload_store` what visitors bring.
"""
