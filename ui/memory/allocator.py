"""Hand memory that Python has freed back to the operating system."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back_freed() -> bool:
    """Return freed memory to the operating system; False where there is no way to.

    The allocator of Linux's glibc keeps freed memory for the process. Takes some tens of
    milliseconds for a gigabyte, without the interpreter's lock.
    """
    trim = _malloc_trim()
    return trim is not None and bool(trim(0))


@cache
def _malloc_trim() -> Any:
    """Return glibc's `malloc_trim`; None on other systems and with other C libraries."""
    if sys.platform != "linux":
        return None
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim
