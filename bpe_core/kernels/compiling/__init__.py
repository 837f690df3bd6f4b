"""Compile the kernels, once per machine, and decide when they are worth using.

In: the size of a text. Out: whether kernels are now faster for it than plain Python. Start with
`choose`, which also starts the compiler. `decorate` has the decorators of kernels, `build` compiles
them to a library, and `load` finds and loads it.

One rule says where compiled kernels are: under a name that is a hash of what they are made from, in
the first folder that has it.
"""
