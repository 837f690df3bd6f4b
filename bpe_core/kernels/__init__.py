"""The hot loops, compiled by Numba.

In: arrays of bytes, ids and counts. Out: arrays. A kernel knows NumPy and Numba, nothing else of
this project; `counting.compiled`, `trainers.compiled` and `tokenizer.compiled` call them.

Open `scanning` first, then `merging` and `encoding`. Each kernel has a readable twin that says what
it does: `trainers.reference` for training and encoding, `pretokenizers` for the scanners. Importing
this package imports no Numba; its modules do.

What all kernels keep to, for the compiler's sake: int32 ids, unsigned byte offsets in the
innermost loops (no wrap-around check), no slice assignments, no literals as arguments, so that
each compiles once, for one set of types.
"""
