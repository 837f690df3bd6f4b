"""How a corpus comes to be: what is in files, pasted texts and samples, and how it is divided.

`bpe_core.corpus` is the door; `streaming` counts files that are larger than memory.
"""
