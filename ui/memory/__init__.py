"""What visitors hold in the server's memory, and how it is freed.

In: results that are slow to make, and sessions that end. Out: the results again, within a limit in
bytes for the server and for each visitor.

Open `sized_cache` first; `sizes` measures what a result takes, and `allocator` hands freed memory
back to the operating system.
"""
