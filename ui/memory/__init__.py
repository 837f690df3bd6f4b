"""What visitors hold in the server's memory.

In: results that are slow to make. Out: the results again, within a limit in bytes for the server.

Open `sized_cache` first; `sizes` measures what a result takes, and `uploads` what files take.
"""
