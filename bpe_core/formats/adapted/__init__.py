"""Write an adapted tokenizer into its base's own files.

In: an `Adapted` and the base's files. Out: files, as name -> bytes. Open `adapted_files` first.
"""
