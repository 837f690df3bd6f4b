"""The files of published tokenizers on this machine, found without the network.

A fetched file is in the cache folder. Those of GPT-4 and GPT-4o are also found where tiktoken
caches its downloads.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from bpe_core.errors import IntegrityError, UnavailableError
from bpe_core.extras import needs_extra
from bpe_core.published.catalogue import Published

VARIABLE: Final = "BPE_EXPLORER_TOKENIZERS"
State = Literal["installed", "here", "missing"]
"""installed: it comes with a package; here: fetched before; missing: it must be fetched."""
_TIKTOKENS_FOLDERS: Final = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


def cache_folder() -> Path:
    """Return the folder of fetched files, which may not exist yet.

    It is what BPE_EXPLORER_TOKENIZERS names, or else `tokenizers` in the user's cache folder.
    Raises `MissingExtraError` if the package that knows the cache folder is not installed.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {VARIABLE: "/data/tokenizers"}):
    ...     cache_folder().as_posix()
    '/data/tokenizers'
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    with needs_extra("formats", "The cache of fetched tokenizers"):
        from platformdirs import user_cache_path

    return user_cache_path("bpe-explorer", appauthor=False) / "tokenizers"


def cached_path(found: Published) -> Path:
    """Return where the file of a published tokenizer is kept, whether it is there or not."""
    return cache_folder() / found.file_name


def cached_state(found: Published) -> State:
    """Return whether a tokenizer can be opened now, judged by the size of its file.

    >>> from bpe_core.published import published
    >>> cached_state(published("gpt2"))
    'installed'
    """
    if found.package is None:
        return "installed"
    return "missing" if _whole_file(found) is None else "here"


def read_cached(found: Published) -> bytes:
    """Return the file of a tokenizer that was fetched.

    Raises `UnavailableError` if it was not, and `IntegrityError` if its SHA-256 is wrong.

    >>> from unittest.mock import patch
    >>> from bpe_core.published import published
    >>> with patch.dict(os.environ, {VARIABLE: "/no/such/folder"}):
    ...     read_cached(published("llama3"))
    Traceback (most recent call last):
    bpe_core.errors.UnavailableError: Llama 3 has not been fetched. Run: bpe fetch llama3
    """
    file = _whole_file(found)
    if file is None and cached_path(found).exists():
        raise IntegrityError(_damaged(found, cached_path(found)))
    try:
        data = b"" if file is None else file.read_bytes()
    except OSError:
        data = b""
    if file is None or not data:
        raise UnavailableError(f"{found.title} has not been fetched. Run: bpe fetch {found.name}")
    if hashlib.sha256(data).hexdigest() != found.sha256:
        raise IntegrityError(_damaged(found, file))
    return data


def _whole_file(found: Published) -> Path | None:
    """Return where a tokenizer's file is, judged by its size; None if it is nowhere."""
    for place in (cached_path(found), *_tiktokens_places(found)):
        try:
            if place.stat().st_size == found.n_bytes:
                return place
        except OSError:
            continue
    return None


def _tiktokens_places(found: Published) -> Iterator[Path]:
    """Return where tiktoken caches the file, if the package carries it under tiktoken's name."""
    if "/tiktoken_cache/" not in found.path:
        return
    named = next((os.environ[key] for key in _TIKTOKENS_FOLDERS if key in os.environ), None)
    if named is None:
        import tempfile  # when needed: it takes 10 ms

        yield Path(tempfile.gettempdir(), "data-gym-cache", Path(found.path).name)
    elif named:  # tiktoken takes an empty name to mean no cache
        yield Path(named, Path(found.path).name)


def _damaged(found: Published, place: Path) -> str:
    return (
        f"{place.name}, the file of {found.title} in {place.parent}, is damaged. Delete it and "
        f"run: bpe fetch {found.name}"
    )
