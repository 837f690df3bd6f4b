"""Compiling the kernels, and deciding when they are worth it.

In: the size of a text. Out: whether kernels or plain Python are faster for it now. Kernels are
compiled once on a machine, in other processes: `python -m bpe_core.compiling`.

Open `when` first. `background` compiles while other work goes on, and waits; `processes` is how,
`shares` is what. `cache` is where compiled kernels are kept, `file_lock` who may write there.
`threads` and `arrays` serve whoever calls a kernel.
"""
