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


class Location(NamedTuple):
    """The path or the URL of a file, a folder, or a pattern for files."""

    url: str

    @property
    def is_url(self) -> bool:
        """True for the URL of a file, and False for a path.

        >>> Location("s3://bucket/a.txt").is_url, Location("a.txt").is_url
        (True, False)
        """
        return "://" in self.url

    @property
    def is_pattern(self) -> bool:
        """Whether it has a character that stands for others, as * does.

        >>> Location("*.txt").is_pattern, Location("a.txt").is_pattern
        (True, False)
        """
        return any(each in self.url for each in "*?[")

    @property
    def shown(self) -> str:
        """What a message shows: no password, and nothing of what follows `?`.

        >>> Location("https://me:secret@host/a.txt?key=1").shown, Location("folder/what?.txt").shown
        ('https://host/a.txt', 'folder/what?.txt')
        """
        if not self.is_url:
            return self.url
        protocol, rest = self.url.split("://", 1)
        host, slash, path = rest.split("?", 1)[0].partition("/")
        return f"{protocol}://{host.rpartition('@')[2]}{slash}{path}"

    @property
    def full(self) -> str:
        """The path or URL as `files` names those in a folder.

        >>> Location("/a/../b").full, Location("memory://a").full
        ('/b', 'memory:///a')
        """
        if not self.is_url:
            return os.path.abspath(self.url)
        system, path = file_system(self.url)
        return str(system.unstrip_protocol(path))

    @contextmanager
    def reading(self) -> Generator[BinaryIO]:
        """Open the file to read bytes; errors of the system become CorpusError."""
        with _errors_named(self.url):
            if self.is_url:
                system, path = file_system(self.url)
                # An earlier listing of the folder lacks what another process has written there.
                system.invalidate_cache(path)
                opened = system.open(path, "rb")
            else:
                opened = open(self.url, "rb")  # noqa: SIM115 - closed below; Path takes longer
            with opened as file:
                yield file

    @contextmanager
    def writing(self, *, sync_to_disk: bool = True) -> Generator[BinaryIO]:
        """Open the file to write bytes that appear there only once they are complete.

        Without `sync_to_disk`, a power cut may lose a file that is not at a URL.
        """
        if self.is_url:
            system, path = file_system(self.url)
            before, _, name = path.rpartition("/")
            part = f"{before}/.unfinished-{uuid4().hex}-{name}"
            with _errors_named(self.url, "written"):
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
        with _errors_named(self.url, "written"):
            make_folder(Path(self.url).parent)
            with open_whole(Path(self.url), sync_to_disk=sync_to_disk) as file:
                yield file

    def files(self) -> tuple[list[FoundFile], bool]:
        """Return the files that are found here, and True if it is a file's own name.

        Those in a folder, or of a pattern, are sorted by path; hidden ones are left out. Raises
        CorpusError for a path or URL that does not exist or cannot be listed, and for a folder or
        a pattern without files.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "hug.txt").write_text("hug")
        ...     [file.size for file in Location(f"{folder}/*.txt").files()[0]]
        [3]
        """
        with _errors_named(self.url):
            files, is_named = _urls_at(self.url) if self.is_url else _paths_at(self.url)
        if not files:
            problem = "matches no file" if self.is_pattern else "has no files"
            raise CorpusError(f"{self.shown!r} {problem}. Check the {_guess_kind(self.url)}.")
        return files, is_named

    def names(self) -> list[str]:
        """Return the names in the folder; none if it does not exist yet.

        >>> Location("/no/such/folder").names()
        []
        """
        with _errors_named(self.url):
            try:
                if not self.is_url:
                    return sorted(os.listdir(self.url))
                system, path = file_system(self.url)
                system.invalidate_cache()
                return sorted(each.rpartition("/")[2] for each in system.ls(path, detail=False))
            except FileNotFoundError:
                return []

    def size(self) -> int:
        """Return the size of the file, or -1 if it does not exist.

        >>> Location("/no/such/file").size()
        -1
        """
        found = _look_at(self)
        return found[0] if found else -1

    def version(self) -> str:
        """Return a value that changes if the file does, or "" if it does not exist.

        >>> Location("/no/such/file").version()
        ''
        """
        found = _look_at(self)
        return f"{found[0]} {found[1]}" if found else ""

    def delete(self, names: Iterable[str]) -> None:
        """Delete some files of the folder, and the folder if it is empty then."""
        with _errors_named(self.url):
            if not self.is_url:
                for name in names:
                    Path(self.url, name).unlink(missing_ok=True)
                with suppress(OSError):
                    Path(self.url).rmdir()
                return
            system, path = file_system(self.url)
            for name in names:
                system.rm(f"{path}/{name}")


def file_system(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a path or URL, and the path within it.

    Raises CorpusError for an unknown protocol, and MissingExtraError if a package is not installed.

    >>> file_system("memory://folder/a.txt")[1]
    '/folder/a.txt'
    """
    with needs_extra("cluster", f"Reading {Location(url).shown}"):
        fsspec: Any = import_module("fsspec")
    try:
        return fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise CorpusError(
            f"{Location(url).shown} needs a package for its protocol: {error}. Install it, on each "
            "worker machine too."
        ) from None
    except (ValueError, TypeError) as error:
        raise CorpusError(
            f"{Location(url).shown} is not a URL that can be read: {error}. Check the part before ://."
        ) from None


def _paths_at(name: str) -> tuple[list[FoundFile], bool]:
    if not name:
        raise CorpusError("The path is empty: name a file.")  # not the current folder
    path = Path(name).absolute()
    is_named = False
    if path.is_dir():
        start = f"{path}/" if os.path.normpath(name) == "." else _folder_above(str(path))
        found = [f"{path}/{name}" for name in files_below(str(path))]
    elif not path.exists() and Location(name).is_pattern:
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
    for root in sorted(glob(before or "/")) if Location(before).is_pattern else [before or "/"]:
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
    start = _folder_above(Location(url).full)
    if Location(path).is_pattern and not system.exists(path):
        start = _folder_above(Location(_fixed_folder(url)).full)
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
            name = Location(full).shown.removeprefix(Location(start).shown)
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
    return "/".join(takewhile(lambda part: not Location(part).is_pattern, pattern.split("/")))


def _version(system: Any, path: str) -> str:
    try:
        return str(system.ukey(path))
    except Exception:
        # Not all file systems have one; the size is part of every description anyway.
        return ""


def _look_at(place: Location) -> tuple[int, str] | None:
    """Return the size and the version of a file, or None if it does not exist."""
    with _errors_named(place.url):
        try:
            if not place.is_url:
                state = os.stat(place.url)
                return state.st_size, f"{state.st_mtime_ns}"
            system, path = file_system(place.url)
            system.invalidate_cache(path)
            return int(system.info(path)["size"]), _version(system, path)
        except FileNotFoundError:
            return None


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
        if Location(url).is_url and not type(error).__module__.startswith(("bpe_core", "builtins")):
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
    return kind(f"{Location(url).shown!r} cannot be {done}: {explain(found, check)}")


def _guess_kind(name: str) -> str:
    return "URL" if Location(name).is_url else "path"
