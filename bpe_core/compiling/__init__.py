"""Compile the kernels, and decide when they are worth using.

In: the size of a text. Out: whether kernels are now faster for it than plain Python. Kernels are
compiled once per machine, in other processes, to a library: `python -m bpe_core.compiling`.

Start with `python_or_kernels`. `background` compiles while other work goes on, and waits;
`processes` starts the compiler, and `modules_to_compile` divides the work. `cache` keeps what is
compiled, `file_lock` guards it. `threads`, `arrays` and `garbage` help the callers of kernels.
"""
