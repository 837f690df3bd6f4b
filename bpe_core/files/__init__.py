"""Files that several processes use at the same time.

In: paths. Out: files that are whole, or an error.

`file_lock` lets one process at a time do something.
"""
