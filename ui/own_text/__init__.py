"""Draw and encode a visitor's own text, which several pages share.

In: text that is typed, pasted or named in the address. Out: the text, and its tokens packed for the
browser.

Open `field` first: it draws the field and keeps the text in the address or the store. `opened_text`
opens files and large pastes; `address_text` keeps it in the address; `own_reading` encodes the text
with one tokenizer.
"""
