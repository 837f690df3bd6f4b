"""Make the allocator keep little of what Python frees, and hand it back to the operating system."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any, Final

# Of glibc's malloc.h.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
_OPTIONS: Final = (
    # By default, up to 8 heaps a core, each of which keeps freed blocks.
    (_M_ARENA_MAX, 2, "MALLOC_ARENA_MAX"),
    # Larger blocks go back as soon as they are freed. By default, the first large block that is
    # freed raises this limit to its size, up to 32 MB, and texts fragment the heaps from then on.
    (_M_MMAP_THRESHOLD, 128 * 1024, "MALLOC_MMAP_THRESHOLD_"),
    (_M_TRIM_THRESHOLD, 1024 * 1024, "MALLOC_TRIM_THRESHOLD_"),
)


def keep_little_freed() -> None:
    """Make the allocator keep less, unless the environment has its settings; only glibc's can."""
    libc = _glibc()
    if libc is None:
        return
    for option, value, variable in _OPTIONS:
        if variable not in os.environ:
            libc.mallopt(option, value)


def give_back_freed() -> bool:
    """Return freed memory to the operating system; False where there is no way to.

    The allocator of Linux's glibc keeps freed memory for the process. Takes some tens of
    milliseconds for a gigabyte, without the interpreter's lock.
    """
    libc = _glibc()
    return libc is not None and bool(libc.malloc_trim(0))


@cache
def _glibc() -> Any:
    """Return the C library if it is glibc; None on other systems and with other libraries."""
    if sys.platform != "linux":
        return None
    try:
        libc = ctypes.CDLL(None)
        libc.malloc_trim.argtypes, libc.malloc_trim.restype = [ctypes.c_size_t], ctypes.c_int
        libc.mallopt.argtypes, libc.mallopt.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    except (OSError, AttributeError):
        return None
    return libc
