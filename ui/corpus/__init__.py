"""The choice of a corpus, as Train and Adapt draw it, and of files to measure on.

In: uploads, pasted text, weighted words or a sample. Out: a corpus, its training text and the text
held out, or a text's tokens.

Open `corpus_form` first. `uploads` reads files, and `file_fields` asks what they leave open.
`corpus_choice` keeps the choice in the address and asks what is held out; `filled_corpus` brings
back the corpus of the address, of a run or of a training. `own_files` keeps the files that Compare
and Pair frequencies measure on. `own_text_field` draws and keeps a visitor's own texts, also from
files and large pastes, `address_text` keeps a text in the address, and `own_reading` encodes it.
"""
