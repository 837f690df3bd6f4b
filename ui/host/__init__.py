"""What a page may know of the server that it is drawn by.

In: the environment, results that are slow to make, errors that nobody foresaw. Out: the server's
settings, its log, the results again within a limit in bytes, and a message in place of what failed.

Open `settings` first. `logs` writes events without a visitor's text. `sized_cache` keeps results by
the memory that they take. `error_boundary` is put around a page or a part of one.
"""
