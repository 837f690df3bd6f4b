"""Read a string of ASCII characters where Python keeps it, without a copy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

_bytes_at = cast(
    "Callable[[str], int]",
    ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyUnicode_AsUTF8", ctypes.pythonapi)),
)


class _Memory:
    """What NumPy needs to make an array of memory; the array refers to this, and so to the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "typestr": "|u1",
            "shape": (len(text),),
            "data": (_bytes_at(text), True),  # read-only
        }


def ascii_in_place(text: str) -> NDArray[np.uint8]:
    """Return the bytes of a text of ASCII characters, read-only.

    Other text has no bytes to read in place: Python would encode it and keep the result, half as
    much again or more, for as long as the text lives.

    >>> ascii_in_place("hug").tobytes()
    b'hug'
    """
    if not text.isascii():
        raise ValueError("only text of ASCII characters can be read in place")
    return np.asarray(_Memory(text))
