"""Check what a caller passes as a text or as a list of texts, and recognise usual mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike

from bpe_core.checks import describe, has_columns, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, InvalidTextError


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


def check_texts(given: object) -> None:
    """Raise ArgumentTypeError for what is not a list of texts, but a table, a text or no list.

    >>> check_texts(b"hug")
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a text, got b'hug' (bytes). Decode bytes first.
    """
    check_no_table(given)
    if is_a(given, bytes):
        raise ArgumentTypeError(f"Expected a text, got {describe(given)}. Decode bytes first.")
    if is_a(given, str) or not is_a(given, Iterable):
        raise ArgumentTypeError(
            f"Expected a Corpus or a list of texts, got {describe(given)}: make one with "
            "Corpus.from_text or read_corpus."
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


def check_one_for_each(values: Sequence[object], what: str, n_documents: int) -> None:
    """Raise ConfigError unless there is a str for each document.

    >>> check_one_for_each(["a.txt"], "name", 2)
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Expected 2 values as name, one for each document, got 1.
    """
    if len(values) != n_documents:
        raise ConfigError(
            f"Expected {n_documents} values as {what}, one for each document, got {len(values)}."
        )
    for number, value in enumerate(values, 1):
        if not is_a(value, str):
            raise ArgumentTypeError(
                f"Expected a str as {what} of document {number}, got {describe(value)}."
            )


def utf8_length(text: str, name: str) -> int:
    """Return the size of a text in UTF-8; `name` begins the errors.

    Raises ArgumentTypeError for anything but a str, and InvalidTextError for a lone surrogate.

    >>> utf8_length("né", "text")
    3
    """
    if not is_a(text, str):
        raise ArgumentTypeError(
            f"Expected a str as {name}, got {describe(text)}. {remedy_for(text)}"
        )
    try:
        return len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InvalidTextError(
            f"{name} has a lone surrogate, U+{ord(text[error.start]):04X}, at character "
            f"{error.start} (line {line}), which UTF-8 cannot encode. Remove it, or read the text "
            "again from its source."
        ) from None
