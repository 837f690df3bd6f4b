"""The app's own components, drawn in the browser.

In: packed data from Python. Out: HTML, CSS and JavaScript on the page, and the visitor's clicks.

Open `symbol_rows` first: a typed wrapper in `__init__`, with its css and js next to it.
`shared` holds the colours and helpers they share; `merge_player` and `token_view` are the largest.
`notebook` draws some of them in notebooks, for `bpe_core.views`, which also packs what they draw.
"""
