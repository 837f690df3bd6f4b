"""The engine: what the rest of the core calls to have counting, training and encoding compiled.

`choice` tells which texts are worth it, `compilation` compiles the kernels once on a machine;
`counting`, `training` and `encoding` do with `bpe_core.kernels` what their plain twins do without.
"""
