"""The exceptions that the standard library and NumPy raise for damaged files.

Collected by damaging files, one byte at a time.
"""

from __future__ import annotations

import lzma
import struct
import tokenize
import zipfile
import zlib
from typing import Final

ARCHIVE_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    # The last two are for encrypted archives and for newer compression methods.
    ValueError,
    IndexError,
    OverflowError,
    RuntimeError,
    NotImplementedError,
)

# An array's header is Python source that states how much memory to allocate.
ARRAY_DAMAGE: Final = (
    EOFError,
    OSError,
    ValueError,
    KeyError,
    TypeError,
    SyntaxError,
    tokenize.TokenError,
    OverflowError,
    MemoryError,
)
