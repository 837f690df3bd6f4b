"""The app's own components, drawn in the browser.

In: packed data from Python. Out: html, css and js on the page, and what a visitor clicked.

Open `symbol_rows` first: a typed wrapper in `__init__`, with its css and js beside it.
`shared` holds the colours and helpers of all; `merge_player` and `token_view` are large.
"""
