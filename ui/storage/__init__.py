"""Store runs and visitors' files on disk, in folders with unguessable names.

In: a finished run, an upload or a long text. Out: an id for the address, which leads back to what
was stored.

Open `store` first. `run_store` stores runs, `run_name_file` their names, `training_text` the text
that each was trained on, `upload_store` visitors' files and texts.
"""
