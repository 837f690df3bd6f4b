"""The hot loops, compiled by Numba to a library.

In: arrays of bytes, ids and counts. Out: arrays. Kernels depend only on NumPy and Numba;
`counting.compiled`, `trainers.compiled` and `tokenizer.compiled` call them.

Start with `scanning`, then `merging` and `encoding`. `compiling` has the decorators, compiles the
kernels, loads them and decides when to use them. Each kernel has a twin in plain Python that
specifies it: `trainers.reference` for training and encoding, `pretokenizers` for the scanners.
`threads`, `arrays` and `garbage` help the callers of kernels.

Conventions that make all kernels compile well, and once for one set of types: int32 ids, unsigned
byte offsets in the innermost loops (no wrap-around check), no slice assignments, no literals as
arguments.
"""
