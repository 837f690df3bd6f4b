"""The static site: the app's components without a server.

In: the app's modules for the browser, samples, lessons, tokenizers. Out: a folder of plain files.

Open `build` first.
"""
