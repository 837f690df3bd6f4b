"""Open files by path or by URL, such as s3://bucket/a.parquet, with fsspec."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from bpe_core.errors import BpeError, CorpusError
from bpe_core.extras import needs_extra
from bpe_core.whole_files import make_folder, move_whole


def is_url(name: str) -> bool:
    """Return True for the URL of a file, and False for a path.

    >>> is_url("s3://bucket/a.txt"), is_url("a.txt")
    (True, False)
    """
    return "://" in name


def file_system(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a path or URL, and the path within it.

    Raises CorpusError for an unknown protocol, and MissingExtraError if a package is not installed.

    >>> file_system("memory://folder/a.txt")[1]
    '/folder/a.txt'
    """
    with needs_extra("cluster", f"Reading {shown(url)}"):
        fsspec: Any = import_module("fsspec")
    try:
        return fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise CorpusError(
            f"{shown(url)} needs a package for its protocol: {error}. Install it, on each worker "
            "machine too."
        ) from None
    except (ValueError, TypeError) as error:
        raise CorpusError(
            f"{shown(url)} is not a URL that can be read: {error}. Check the part before ://."
        ) from None


@contextmanager
def reading(url: str) -> Generator[BinaryIO]:
    """Open a path or URL to read bytes; errors of the system become CorpusError."""
    with _errors_named(url):
        if is_url(url):
            system, path = file_system(url)
            opened = system.open(path, "rb")
        else:
            opened = Path(url).open("rb")  # noqa: SIM115 - closed below, as the other is
        with opened as file:
            yield file


@contextmanager
def writing(url: str) -> Generator[BinaryIO]:
    """Open a path or URL to write bytes that appear there only once they are complete."""
    if is_url(url):
        system, path = file_system(url)
        with _errors_named(url), system.transaction, system.open(path, "wb") as file:
            yield file
        return
    place = Path(url)
    unfinished = place.with_name(f".unfinished-{uuid4().hex}")
    with _errors_named(url):
        try:
            make_folder(place.parent)
            with unfinished.open("wb") as file:
                yield file
            move_whole(unfinished, place)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def shown(url: str) -> str:
    """Return a URL or path as a message shows it: without a password or what follows `?`.

    >>> shown("https://me:secret@host/a.txt?key=1"), shown("folder/what?.txt")
    ('https://host/a.txt', 'folder/what?.txt')
    """
    if not is_url(url):
        return url
    protocol, rest = url.split("://", 1)
    host, slash, path = rest.split("?", 1)[0].partition("/")
    return f"{protocol}://{host.rpartition('@')[2]}{slash}{path}"


@contextmanager
def _errors_named(url: str) -> Generator[None]:
    try:
        yield
    except BpeError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(url, error) from None
    except Exception as error:
        # Each file system has errors of its own, such as those of its network library.
        if is_url(url) and not type(error).__module__.startswith(("bpe_core", "builtins")):
            raise unreadable(url, error) from error
        raise


def unreadable(url: str, error: Exception) -> CorpusError:
    """Return the error for a file that cannot be opened or read.

    >>> print(unreadable("a.txt", FileNotFoundError(2, "No such file or directory")))
    'a.txt' cannot be read: No such file or directory. Check the path.
    """
    reason = getattr(error, "strerror", None) or str(error).strip() or type(error).__name__
    if isinstance(error, FileNotFoundError):
        reason = os.strerror(2)
    return CorpusError(
        f"{shown(url)!r} cannot be read: {' '.join(reason.split())[:300]}. Check the "
        f"{'URL' if is_url(url) else 'path'}."
    )
