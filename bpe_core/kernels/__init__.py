"""Hot loops as Numba kernels: arrays in, arrays out. They know numpy and numba, nothing else.

Each kernel has a readable twin that says what it does: `reference` for training and encoding,
`pretokenizers` for the scanners. Importing this package imports no Numba; its modules do.

What all kernels keep to, for the compiler's sake: int32 ids, unsigned byte offsets in the
innermost loops (no wrap-around check), no slice assignments, no literals as arguments, so that
each compiles once, for one set of types.
"""
