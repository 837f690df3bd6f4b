"""Recognise what a caller passes as a text, or as a list of texts, by mistake."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from bpe_core.checks import has_columns, is_a
from bpe_core.errors import ArgumentTypeError


def check_no_table(given: object) -> None:
    """Raise ArgumentTypeError for a DataFrame, another table or a dict, which iterate over names.

    >>> check_no_table({"text": ["hug"]})
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a list of texts, got a value of type dict: pass \
its column of text, such as table['text'], or its values; Corpus.from_word_counts takes words with \
their counts.
    """
    if not has_columns(given) and not is_a(given, Mapping):
        return
    remedy = "pass its column of text, such as table['text']"
    if not has_columns(given):
        remedy += ", or its values; Corpus.from_word_counts takes words with their counts"
    raise ArgumentTypeError(
        f"Expected a list of texts, got a value of type {type(given).__name__}: {remedy}."
    )


def remedy_for(given: object) -> str:
    """Return what to do about a value that should have been a str.

    >>> remedy_for(b"hug"), remedy_for(None)
    ('Decode bytes first.', 'Leave missing values out, as dropna does.')
    """
    if has_columns(given):
        return "Pass its column of text, such as table['text'], to Corpus.from_documents."
    if is_a(given, PathLike):
        return "Call read_corpus for a file."
    if hasattr(given, "as_py"):
        return "Call to_pylist on the column, which makes Python's strings of Arrow's."
    if given is None or is_a(given, float) or type(given).__name__ == "NAType":
        return "Leave missing values out, as dropna does."
    if is_a(given, list, tuple, Mapping):
        return "Give one str for each document."
    return "Decode bytes first."
