"""Mutated files for every reader, and mutated addresses for every page: `make fuzz`.

In: small valid files. Out: a table, and the inputs that raised anything but a `BpeError`, took too
long or too much memory, which are kept in `.fuzz`.

Open `__main__` first; `readers` has what is read, `mutations` how its bytes are damaged,
`structures` how its entries are, and `addresses` the parameters of pages.
"""
