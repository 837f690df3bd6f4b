"""What a caller gave instead of what was asked for: said in a `BpeError`, never a TypeError."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, cast

from bpe_core.errors import BpeError

_MOST_SHOWN = 40
_NO_SEQUENCE = (str, bytes, bytearray, set, frozenset, Mapping)


def said(value: object) -> str:
    """Say what a value is, for a message that goes on after "is".

    >>> said(None), said("gpt2"), said([1, 2])
    ('None', "'gpt2' (str)", 'of type list')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    if not isinstance(value, (str, bytes, int, float)):
        return f"of type {name}"
    shown = repr(value)
    return f"{shown if len(shown) <= _MOST_SHOWN else shown[:_MOST_SHOWN] + '...'} ({name})"


def is_a(value: object, *kinds: type) -> bool:
    """Tell whether a value is what its annotation says; a type checker takes that for granted.

    >>> is_a("hug", str, bytes)
    True
    """
    return isinstance(value, kinds)


def is_whole(value: object) -> bool:
    """Tell whether a value is a whole number: an int, or one of NumPy's, and no truth value.

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


def several(values: object, what: str, remedy: str, error: type[BpeError]) -> list[Any]:
    """List the values of an iterable.

    Raises `error` for anything else: for a single text, and for a set or a dict, since a set has
    no order and of a dict the keys alone would be taken.

    >>> several((1, 2), "ids", "give a list", BpeError)
    [1, 2]
    >>> several("hug", "texts", "give a list of str", BpeError)
    Traceback (most recent call last):
    bpe_core.errors.BpeError: What was given as texts is 'hug' (str): give a list of str.
    """
    if is_a(values, *_NO_SEQUENCE) or not is_a(values, Iterable):
        raise error(f"What was given as {what} is {said(values)}: {remedy}.")
    return list(cast("Iterable[Any]", values))
