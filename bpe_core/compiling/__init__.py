"""Compiling the kernels, and deciding when they are worth it.

In: the size of a text. Out: whether kernels or plain Python are faster for it now. Kernels are
compiled once on a machine, in other processes: `python -m bpe_core.compiling.when`.

Open `when` first. `cache` is where compiled kernels are kept; `threads` and `arrays` serve whoever
calls a kernel.
"""
