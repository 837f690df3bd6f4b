"""Read and write GGUF, the vocabulary alone.

In: a file's bytes, or a `Tokenizer`. Out: a description, or a file. Open `gguf_vocabulary` first.
"""
