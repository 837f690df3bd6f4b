"""Check arguments at run time: wrong ones raise a `BpeError` that says what to do."""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from bpe_core.errors import ArgumentTypeError, BpeError, ConfigError

_MAX_SHOWN = 40
_NO_SEQUENCE = (str, bytes, bytearray, set, frozenset, Mapping)


def describe(value: object) -> str:
    """Describe a value for the message of an error.

    >>> describe(None), describe("gpt2"), describe([1, 2])
    ('None', "'gpt2' (str)", 'a value of type list')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    if not isinstance(value, (str, bytes, int, float)):
        return f"a value of type {name}"
    shown = repr(value)
    return f"{shown if len(shown) <= _MAX_SHOWN else shown[:_MAX_SHOWN] + '...'} ({name})"


def printable(text: str) -> str:
    """Return a text with its code points in place of what does not print, such as U+001B.

    >>> printable("a\x1b[31m")
    'aU+001B[31m'
    """
    return "".join(
        each if each.isprintable() or unicodedata.category(each) == "Zs" else f"U+{ord(each):04X}"
        for each in text
    )


def counted(n: int, noun: str) -> str:
    """Return a number of things, in the singular or plural.

    >>> counted(1, "merge"), counted(1_200, "merge")
    ('1 merge', '1,200 merges')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def times(n: int) -> str:
    """Return a number of times in words.

    >>> times(1), times(2), times(1_200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def is_a(value: object, *kinds: type) -> bool:
    """Return True if a value has one of these types, without narrowing it for type checkers.

    >>> is_a("hug", str, bytes)
    True
    """
    return isinstance(value, kinds)


def has_columns(value: object) -> bool:
    """Return True for what has columns, such as a DataFrame, a pyarrow Table or a Dataset.

    >>> import pyarrow
    >>> has_columns(pyarrow.table({"text": ["hug"]})), has_columns(["hug"])
    (True, False)
    """
    # Looked up on the type: a pandas Series has an attribute for each label of its index.
    return any(hasattr(type(value), name) for name in ("columns", "column_names"))


def is_whole(value: object) -> bool:
    """Return True for an int or a NumPy integer, but False for a bool.

    >>> is_whole(3), is_whole(True), is_whole(3.0), is_whole("3")
    (True, False, False, False)
    """
    if isinstance(value, bool):
        return False
    try:
        operator.index(cast("Any", value))
    except TypeError:
        return False
    return True


def check_choice(name: str, value: object, choices: object, error: type[BpeError]) -> None:
    """Raise `error` if an argument's value is not one of the choices of a `Literal`.

    >>> from typing import Literal
    >>> check_choice("base", "words", Literal["bytes", "characters"], BpeError)
    Traceback (most recent call last):
    bpe_core.errors.BpeError: base is 'words' (str). Use 'bytes' or 'characters'.
    """
    known = get_args(choices)
    if value not in known:
        raise error(f"{name} is {describe(value)}. Use {' or '.join(map(repr, known))}.")


def check_whole(
    name: str,
    value: object,
    least: int,
    most: int | None = None,
    error: type[BpeError] = ConfigError,
) -> None:
    """Raise `ArgumentTypeError` for anything but a whole number, and `error` for one out of range.

    >>> check_whole("n_tokens", 0, least=1)
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Expected n_tokens as a whole number, 1 or more, got 0 (int).
    """
    is_number = is_whole(value)
    if is_number and least <= cast("int", value) <= (cast("int", value) if most is None else most):
        return
    bounds = f", {least:,} or more" if most is None else f" from {least:,} to {most:,}"
    kind = error if is_number else ArgumentTypeError
    raise kind(f"Expected {name} as a whole number{bounds}, got {describe(value)}.")


def several(values: object, what: str, remedy: str) -> list[Any]:
    """Return the values of an iterable as a list.

    Raises `ArgumentTypeError` for anything else, and for a text, a set (it has no order) or a dict
    (only its keys would be used).

    >>> several((1, 2), "ids", "give a list")
    [1, 2]
    >>> several("hug", "texts", "give a list of str")
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a list of texts, got 'hug' (str): give a list of \
str.
    """
    if has_columns(values):
        raise ArgumentTypeError(
            f"Expected a list of {what}, got a value of type {type(values).__name__}: pass one of "
            "its columns, such as table['text']."
        )
    if is_a(values, *_NO_SEQUENCE) or not is_a(values, Iterable):
        raise ArgumentTypeError(f"Expected a list of {what}, got {describe(values)}: {remedy}.")
    return list(cast("Iterable[Any]", values))
