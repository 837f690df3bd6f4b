"""Mutated files for every reader, and mutated addresses for every page: `make fuzz`.

It damages small valid files and prints a table. Inputs that raise anything but a `BpeError`, or
take too much time or memory, are kept in `.fuzz`.

Start reading at `__main__`. `readers` lists the readers and their files, `mutations` damages bytes,
`structures` damages entries, and `addresses` changes the parameters of pages.
"""
