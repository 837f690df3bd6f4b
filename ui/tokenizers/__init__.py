"""The tokenizers at hand: what Compare, Vocabulary and the lessons take them from.

In: keys in the address and uploaded files. Out: encoders with names that differ, each with where it
is from.

Open `shelf` first. `longest_match` looks for words that a shortcut cuts differently.
"""
