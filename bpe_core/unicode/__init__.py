"""Properties of characters and bytes.

In: a text, or bytes of UTF-8. Out: the class of each character, pinned to Unicode 16, its script,
or the state of a UTF-8 decoder.

Open `classes` first. `kinds` adds scripts and lengths, `utf8_states` decodes UTF-8 byte by byte,
and `byte_alphabet` is GPT-2's table of printable bytes.
"""
