"""What readers of the standard library and of NumPy run into where a file is damaged.

Found by damaging files, a byte at a time.
"""

from __future__ import annotations

import lzma
import struct
import tokenize
import zipfile
import zlib
from typing import Final

ARCHIVE_DAMAGE: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    # The last two where it is encrypted, or packed by a newer method.
    *(ValueError, IndexError, OverflowError, RuntimeError, NotImplementedError),
)

# An array's header is Python source, and says how much memory to ask for.
ARRAY_DAMAGE: Final = (
    *(EOFError, OSError, ValueError, KeyError, TypeError, SyntaxError),
    *(tokenize.TokenError, OverflowError, MemoryError),
)
