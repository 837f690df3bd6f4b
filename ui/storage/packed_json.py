"""JSON files of a run's folder, packed with gzip and checked against the folder's manifest."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bpe_core.corpus.damage import ARRAY_DAMAGE
from bpe_core.errors import BpeError, FormatError
from bpe_core.files.store.entries import refused_as_not_permitted
from bpe_core.files.store.manifest import read_checked


def write_packed(path: Path, value: object) -> None:
    """Write a value as packed JSON; raises OSError."""
    data = json.dumps(value, ensure_ascii=False).encode()
    # Without a timestamp, so that the same value makes the same file.
    path.write_bytes(gzip.compress(data, mtime=0))


def read_packed(folder: Path, name: str) -> Any:
    """Return the value of a file of a run's folder; call it within `named_damage`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, named_damage("The word"):
    ...     write_packed(Path(folder, "word.json.gz"), {"word": "hug"})
    ...     read_packed(Path(folder), "word.json.gz")
    {'word': 'hug'}
    """
    return json.loads(gzip.decompress(read_checked(folder, name)))


@contextmanager
def named_damage(what: str) -> Generator[None]:
    """Raise a FormatError for a damaged file, and a NotPermittedError for another user's.

    Covers the reading of the file and the use of its value. `what` begins the message.

    >>> with named_damage("The corpus kept with this run"):
    ...     {}["origin"]
    Traceback (most recent call last):
    bpe_core.errors.FormatError: The corpus kept with this run is damaged.
    """
    with refused_as_not_permitted(what):
        try:
            yield
        except PermissionError:
            raise
        except (*ARRAY_DAMAGE, RecursionError, zlib.error, BpeError) as error:
            raise FormatError(f"{what} is damaged.") from error
