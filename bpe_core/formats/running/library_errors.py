"""Turn the failures of another library into errors of this one that help the reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from bpe_core.errors import BpeError

_PLACE: Final = re.compile(r"line (\d+),? column (\d+)")


@contextmanager
def library_failures(to_error: Callable[[str], BpeError]) -> Generator[None]:
    """Raise the error that `to_error` returns in place of whatever a library raises in the block.

    `to_error` gets " (line L, column C)" if the library names a place, else "". The rest of its
    message is about its own types, and helps nobody here. `tokenizers` raises bare Exceptions, and
    its panics derive from BaseException; so do an interruption and an exit, which go on.

    >>> from bpe_core.errors import FormatError
    >>> with library_failures(lambda place: FormatError(f"It cannot be read{place}.")):
    ...     raise Exception("did not match any variant of ModelWrapper at line 1 column 30")
    Traceback (most recent call last):
    bpe_core.errors.FormatError: It cannot be read (line 1, column 30).
    >>> with library_failures(lambda place: FormatError(f"It cannot be read{place}.")):
    ...     raise SystemExit
    Traceback (most recent call last):
    SystemExit
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        found = _PLACE.search(str(error))
        raise to_error(f" (line {found[1]}, column {found[2]})" if found else "") from None
