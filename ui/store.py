"""What is kept on disk for visitors, each in a folder named by an id that nobody can guess."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path(__file__).parent.parent
_ID_PATTERN = re.compile(r"[0-9a-f]{32}")
UPLOAD_PREFIX = "upload-"
_UNFINISHED = ".unfinished-"
DAYS_KEPT_UNOPENED = 90
_DAYS_KEPT_UNFINISHED = 1
_SECONDS_A_DAY = 86_400


def store_folder() -> Path:
    """Where all of it lies."""
    return Path(os.environ.get("BPE_EXPLORER_RUNS") or _ROOT / ".runs")


def new_id() -> str:
    """An id that was never given out."""
    # In hexadecimal: Streamlit refuses a component's key with "__" in it, and ids stand in keys.
    return secrets.token_hex(16)


def is_id(text: str) -> bool:
    """Whether a text has the form of an id: what has not must reach no path."""
    return _ID_PATTERN.fullmatch(text) is not None


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A place to write into; it becomes `folder` where the block ends well, else is gone."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        yield unfinished
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def replace_file(file: Path, data: bytes) -> None:
    """Gives a file other contents; who reads it meanwhile gets all of the old or of the new."""
    handle, unfinished = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(data)
        Path(unfinished).replace(file)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def touch(folder: Path) -> None:
    """Keeps a folder from being swept for another 90 days."""
    # A store that may only be read is never swept either.
    with suppress(OSError):
        os.utime(folder)


def sweep_store() -> None:
    """Removes what nobody opened for 90 days, and what a server that died left half written.

    Whatever else lies in the store's folder stays.
    """
    try:
        entries = list(store_folder().iterdir())
    except OSError:
        return
    for entry in entries:
        if is_id(entry.name.removeprefix(UPLOAD_PREFIX)):
            days = DAYS_KEPT_UNOPENED
        elif entry.name.startswith(_UNFINISHED):
            # Not at once: another server may be writing it.
            days = _DAYS_KEPT_UNFINISHED
        else:
            continue
        with suppress(OSError):
            if time.time() - entry.lstat().st_mtime > days * _SECONDS_A_DAY:
                shutil.rmtree(entry)
