"""Read the UTF-8 of a string where Python keeps it, without a copy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

_PYTHON: Any = ctypes.pythonapi
_READ_ONLY = 0x100  # PyBUF_READ

_utf8_at = cast(
    "Callable[[str, Any], int]",
    ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t))(
        ("PyUnicode_AsUTF8AndSize", _PYTHON)
    ),
)
_memory_at = cast(
    "Callable[[int, int, int], memoryview]",
    ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
        ("PyMemoryView_FromMemory", _PYTHON)
    ),
)


def utf8_in_place(text: str) -> NDArray[np.uint8]:
    """Return the UTF-8 of a text, read-only; the caller keeps the text for as long as it is used.

    Python encodes a text that is not ASCII at the first call, and keeps the result until the text
    is freed. Raises UnicodeEncodeError for a lone surrogate.

    >>> text = "h\u00fcg"
    >>> utf8_in_place(text).tobytes()
    b'h\xc3\xbcg'
    """
    n_bytes = ctypes.c_ssize_t()
    address = _utf8_at(text, ctypes.byref(n_bytes))
    return np.frombuffer(_memory_at(address, n_bytes.value, _READ_ONLY), np.uint8)
