"""Provide the tokenizers that a visitor can choose from.

In: keys in the address, and uploaded files. Out: encoders with distinct names, each with a note on
its origin.

Open `shelf` first; `additions` draws the ways to add to it, and `choice` the choice of one.
"""
