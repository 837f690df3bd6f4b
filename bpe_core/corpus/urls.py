"""Open files by path or by URL, such as s3://bucket/a.parquet, with fsspec."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape, glob
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

from bpe_core.corpus.file_kinds import files_below, is_left_out
from bpe_core.errors import BpeError, CorpusError, MissingFileError, explain
from bpe_core.extras import needs_extra
from bpe_core.files import make_folder, open_whole


class FoundFile(NamedTuple):
    """A file that a path, a URL, a folder or a pattern names."""

    url: str
    size: int
    version: str
    """A value that changes if the file does."""
    name: str
    """Its path from the folder on that was named or that a pattern looks in, or its own name."""


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
            # An earlier listing of the folder lacks what another process has written there since.
            system.invalidate_cache(path)
            opened = system.open(path, "rb")
        else:
            opened = open(url, "rb")  # noqa: SIM115 - closed below; Path takes longer
        with opened as file:
            yield file


@contextmanager
def writing(url: str, *, sync_to_disk: bool = True) -> Generator[BinaryIO]:
    """Open a path or URL to write bytes that appear there only once they are complete.

    Without `sync_to_disk`, a power cut may lose a file that is not at a URL.
    """
    if is_url(url):
        system, path = file_system(url)
        before, _, name = path.rpartition("/")
        part = f"{before}/.unfinished-{uuid4().hex}-{name}"
        with _errors_named(url, "written"):
            try:
                system.makedirs(before, exist_ok=True)
                with system.open(part, "wb") as file:
                    yield file
                system.mv(part, path)
            except BaseException:
                with suppress(Exception):
                    system.rm(part)
                raise
        return
    with _errors_named(url, "written"):
        make_folder(Path(url).parent)
        with open_whole(Path(url), sync_to_disk=sync_to_disk) as file:
            yield file


def files_at(name: str) -> tuple[list[FoundFile], bool]:
    """Return the files that a path, URL, folder or pattern finds, and True for a file's own name.

    Those in a folder, or of a pattern, are sorted by path; hidden ones are left out. Raises
    CorpusError for a path or URL that does not exist or cannot be listed, and for a folder or a
    pattern without files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "hug.txt").write_text("hug")
    ...     [file.size for file in files_at(f"{folder}/*.txt")[0]]
    [3]
    """
    with _errors_named(name):
        files, is_named = _urls_at(name) if is_url(name) else _paths_at(name)
    if not files:
        problem = "matches no file" if is_pattern(name) else "has no files"
        raise CorpusError(f"{shown(name)!r} {problem}. Check the {_guess_kind(name)}.")
    return files, is_named


def _paths_at(name: str) -> tuple[list[FoundFile], bool]:
    if not name:
        raise CorpusError("The path is empty: name a file.")  # not the current folder
    path = Path(name).absolute()
    is_named = False
    if path.is_dir():
        start = f"{path}/" if os.path.normpath(name) == "." else _folder_above(str(path))
        found = [f"{path}/{name}" for name in files_below(str(path))]
    elif not path.exists() and is_pattern(name):
        fixed = _fixed_folder(name)
        start = _folder_above(os.path.abspath(fixed)) if fixed else f"{Path.cwd()}/"
        matching = sorted(set(_matches(str(path))))
        found = [each for each in matching if not is_left_out(each.rpartition("/")[2])]
    else:
        start, found, is_named = _folder_above(str(path)), [str(path)], True
    files: list[FoundFile] = []
    for each in found:
        if is_named or os.path.isfile(each):
            state = os.stat(each)  # raises the error for a missing file
            version = f"{state.st_mtime_ns}"
            files.append(FoundFile(each, state.st_size, version, each.removeprefix(start)))
    return files, is_named


def _matches(pattern: str) -> Iterator[str]:
    """Yield what `glob` finds, but nothing twice by way of links to folders."""
    before, _, after = pattern.partition("/**/")
    if not after:
        before, _, after = pattern.partition("/**")
        if after or not pattern.endswith("/**"):
            yield from glob(pattern)
            return
        after = "*"
    seen: set[str] = set()
    for root in sorted(glob(before or "/")) if is_pattern(before) else [before or "/"]:
        for folder in _folders_once(root, seen):
            yield from _matches(f"{escape(folder.rstrip('/'))}/{after}")


def _folders_once(root: str, seen: set[str]) -> Iterator[str]:
    """Yield a folder and those below it, each once; links to folders come last."""
    left = [root]
    for top in left:
        for at, folders, _ in os.walk(top):
            real = os.path.realpath(at)
            if real in seen:
                folders.clear()
                continue
            seen.add(real)
            yield at
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            left += (path for each in folders if os.path.islink(path := f"{at}/{each}"))


def _urls_at(url: str) -> tuple[list[FoundFile], bool]:
    system, path = file_system(url)
    is_named = False
    start = _folder_above(full_url(url))
    if is_pattern(path) and not system.exists(path):
        start = _folder_above(full_url(_fixed_folder(url)))
        matching = sorted(system.glob(path))
        found = [each for each in matching if not is_left_out(each.rpartition("/")[2])]
    elif system.isdir(path):
        inside = sorted(system.find(path))
        found = [each for each in inside if not is_left_out(each[len(path) :].strip("/"))]
    else:
        start, found, is_named = _folder_above(url), [path], True
    files: list[FoundFile] = []
    for each in found:
        information = system.info(each)
        if information["type"] == "file":
            full = url if is_named else system.unstrip_protocol(each)
            size, version = int(information["size"] or 0), _version(system, each)
            name = shown(full).removeprefix(shown(start))
            files.append(FoundFile(full, size, version, name))
    return files, is_named


def _folder_above(url: str) -> str:
    """Return the folder that a file or folder is in; names begin behind it.

    >>> _folder_above("s3://a/b/c.txt"), _folder_above("s3://a/b/")
    ('s3://a/b/', 's3://a/')
    """
    bare = url.rstrip("/")
    return bare[: bare.rfind("/") + 1]


def _fixed_folder(pattern: str) -> str:
    """Return the folder in which a pattern looks for files.

    >>> _fixed_folder("s3://a/b/**/*.txt")
    's3://a/b'
    """
    return "/".join(takewhile(lambda part: not is_pattern(part), pattern.split("/")))


def _version(system: Any, path: str) -> str:
    try:
        return str(system.ukey(path))
    except Exception:
        # Not all file systems have one; the size is part of every description anyway.
        return ""


def names_in(folder: str) -> list[str]:
    """Return the names in a folder, by path or URL; none if it does not exist yet.

    >>> names_in("/no/such/folder")
    []
    """
    with _errors_named(folder):
        try:
            if not is_url(folder):
                return sorted(os.listdir(folder))
            system, path = file_system(folder)
            system.invalidate_cache()
            return sorted(each.rpartition("/")[2] for each in system.ls(path, detail=False))
        except FileNotFoundError:
            return []


def size_at(url: str) -> int:
    """Return the size of a file by path or URL, or -1 if it does not exist.

    >>> size_at("/no/such/file")
    -1
    """
    found = _look_at(url)
    return found[0] if found else -1


def full_url(name: str) -> str:
    """Return a path or URL as `files_at` names the files in a folder.

    >>> full_url("/a/../b"), full_url("memory://a")
    ('/b', 'memory:///a')
    """
    if not is_url(name):
        return os.path.abspath(name)
    system, path = file_system(name)
    return str(system.unstrip_protocol(path))


def version_at(url: str) -> str:
    """Return a value that changes if a file does, by path or URL, or "" if it does not exist.

    >>> version_at("/no/such/file")
    ''
    """
    found = _look_at(url)
    return f"{found[0]} {found[1]}" if found else ""


def _look_at(url: str) -> tuple[int, str] | None:
    """Return the size and the version of a file, or None if it does not exist."""
    with _errors_named(url):
        try:
            if not is_url(url):
                state = os.stat(url)
                return state.st_size, f"{state.st_mtime_ns}"
            system, path = file_system(url)
            system.invalidate_cache(path)
            return int(system.info(path)["size"]), _version(system, path)
        except FileNotFoundError:
            return None


def delete_files(folder: str, names: Iterable[str]) -> None:
    """Delete some files of a folder, and the folder if it is empty then."""
    with _errors_named(folder):
        if not is_url(folder):
            for name in names:
                Path(folder, name).unlink(missing_ok=True)
            with suppress(OSError):
                Path(folder).rmdir()
            return
        system, path = file_system(folder)
        for name in names:
            system.rm(f"{path}/{name}")


def is_pattern(name: str) -> bool:
    """Return True if a name has a character that stands for others, as * does.

    >>> is_pattern("*.txt"), is_pattern("a.txt")
    (True, False)
    """
    return any(each in name for each in "*?[")


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
def _errors_named(url: str, done: str = "read") -> Generator[None]:
    try:
        yield
    except BpeError:
        raise
    except (OSError, ValueError) as error:
        raise unreadable(url, error, done) from None
    except Exception as error:
        # Each file system has errors of its own, such as those of its network library.
        if is_url(url) and not type(error).__module__.startswith(("bpe_core", "builtins")):
            raise unreadable(url, error, done) from error
        raise


def unreadable(url: str, error: Exception, done: str = "read") -> CorpusError:
    """Return the error for a file that cannot be opened, read or `done`.

    >>> print(unreadable("a.txt", FileNotFoundError(2, "No such file or directory")))
    'a.txt' cannot be read: No such file or directory. Check the path.
    """
    check = f"Check the {_guess_kind(url)}."
    found = (
        error if isinstance(error, OSError) else OSError(str(error).strip() or type(error).__name__)
    )
    kind = CorpusError
    if isinstance(error, FileNotFoundError):
        kind, found = MissingFileError, FileNotFoundError(2, os.strerror(2))
    if isinstance(error, UnicodeEncodeError) or "embedded null" in str(error):
        found = OSError("it contains a NUL or a lone surrogate")
    return kind(f"{shown(url)!r} cannot be {done}: {explain(found, check)}")


def _guess_kind(name: str) -> str:
    return "URL" if is_url(name) else "path"
