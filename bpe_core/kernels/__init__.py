"""The hot loops, compiled by Numba to a library.

In: arrays of bytes, ids and counts. Out: arrays. Kernels depend only on NumPy and Numba;
`counting.compiled`, `trainers.compiled` and `tokenizer.compiled` call them.

Start with `scanning`, then `merging` and `encoding`. `jit` has the decorators, `library_builder`
builds the library, `library` loads it, and `folder` knows where it is kept. Each kernel has a twin
in plain Python that specifies it: `trainers.reference` for training and encoding, `pretokenizers`
for the scanners. Only `library_builder` imports Numba, and `jit` if there is no library.

Conventions that make all kernels compile well, and once for one set of types: int32 ids, unsigned
byte offsets in the innermost loops (no wrap-around check), no slice assignments, no literals as
arguments.
"""
