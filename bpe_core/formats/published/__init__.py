"""Tokenizers that others published, fetched by name and kept in caches.

Open `catalogue` first: the table of names, with the sources of each file; it finds those that are
here, without the network. `fetching` downloads the missing ones: from Hugging Face's hub
(`hub`, in its own process; `hub_names` reads names and finds what the hub's client has cached),
or from a package of which no code runs.
"""
