"""Files that several processes use at the same time.

In: paths. Out: files that are whole, or an error.

`whole_files` writes a file whole or not at all, `regular_files` refuses devices and pipes, and
`file_lock` lets one process at a time do something. `kept_arrays` keeps what takes long to make for
later processes. `store` is the app's runs and uploads on disk.
"""
