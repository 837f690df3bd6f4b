"""The manifest of an entry: its format's version, and a checksum of each of its files."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Collection, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import IntegrityError, NewerFormatError
from bpe_core.files.regular_files import NotRegularError, open_regular
from bpe_core.files.whole_files import write_whole

MANIFEST: Final = "manifest.json"
_FORMAT: Final = "bpe-explorer-entry"
_VERSION: Final = 1
_replacing = threading.Lock()

Digests = Mapping[str, tuple[str, ...]]
"""The accepted SHA-256 digests of each file, in hexadecimal."""


def write_manifest(folder: Path) -> None:
    """Write the checksums of all files in a folder; call it last, before the folder is renamed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     _ = Path(name, "hug.txt").write_bytes(b"hugs")
    ...     write_manifest(Path(name))
    ...     check_files(Path(name))
    True
    """
    files = {
        path.name: (_hash_file(path),)
        for path in sorted(folder.iterdir())
        if path.name != MANIFEST and path.is_file()
    }
    (folder / MANIFEST).write_bytes(_encode_manifest(files))


def check_files(folder: Path, names: Collection[str] | None = None) -> bool:
    """Check files of an entry, or all, against its manifest; return False if it has none.

    Entries of earlier versions have none. Raises IntegrityError for a damaged or missing file,
    NewerFormatError for an entry of a newer version, and OSError if a file cannot be read. A pipe
    or a device in a file's place is damage.
    """
    digests = _read_manifest(folder)
    if digests is None:
        return False
    for name in digests if names is None else names & digests.keys():
        try:
            found = _hash_file(folder / name)
        except FileNotFoundError:
            raise IntegrityError(f"{name} is missing from {folder.name}.") from None
        _check(folder, name, found, digests)
    return True


def read_checked(folder: Path, name: str) -> bytes:
    """Return the contents of an entry's file, and raise what `check_files` raises."""
    # Read before the manifest, which is replaced first: see `replace_file`.
    data = _read(folder / name)
    digests = _read_manifest(folder)
    if digests is not None:
        _check(folder, name, hashlib.sha256(data).hexdigest(), digests)
    return data


def replace_file(folder: Path, name: str, data: bytes) -> None:
    """Replace a file of an entry; after a crash, the entry has the old or the new file.

    The manifest accepts the new file before it is there, and the old one until the next call.
    Raises OSError, and what `check_files` raises for a damaged manifest.
    """
    with _replacing:
        digests = _read_manifest(folder)
        if digests is not None:
            accepted = (_hash_file(folder / name), hashlib.sha256(data).hexdigest())
            write_whole(folder / MANIFEST, _encode_manifest({**digests, name: accepted}))
        write_whole(folder / name, data)


def _read_manifest(folder: Path) -> Digests | None:
    try:
        data = _read(folder / MANIFEST)
    except FileNotFoundError:
        return None
    try:
        manifest: Any = json.loads(data)
        if manifest["format"] != _FORMAT or not isinstance(version := manifest["version"], int):
            raise ValueError(f"Expected format {_FORMAT!r}, got {manifest['format']!r}.")
        if version > _VERSION:
            raise NewerFormatError(
                f"{folder.name} was stored by a newer version of BPE Explorer. Update BPE Explorer "
                "to open it."
            )
        # No file has a name with a null character or, encoded as UTF-8, a lone surrogate.
        if not all(
            Path(name).name == name and b"\0" not in os.fsencode(name) for name in manifest["files"]
        ):
            raise ValueError("Expected names of files in the entry's folder.")
        return {str(name): tuple(map(str, found)) for name, found in manifest["files"].items()}
    except NewerFormatError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise IntegrityError(f"{MANIFEST} of {folder.name} is damaged.") from error


def _check(folder: Path, name: str, found: str, digests: Digests) -> None:
    if name in digests and found not in digests[name]:
        raise IntegrityError(f"{name} of {folder.name} differs from its SHA-256.")


def _read(path: Path) -> bytes:
    with _opened(path) as file:
        return file.read()


def _hash_file(path: Path) -> str:
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> BufferedReader:
    try:
        return open_regular(path)
    except NotRegularError:
        raise IntegrityError(f"{path.name} of {path.parent.name} is not a regular file.") from None


def _encode_manifest(digests: Digests) -> bytes:
    return json.dumps({"format": _FORMAT, "version": _VERSION, "files": digests}).encode()
