"""Where the store is, and the names that its entries have."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from bpe_core.extras import needs_extra
from bpe_core.files.whole_files import make_folder

VARIABLE: Final = "BPE_EXPLORER_RUNS"
UPLOAD_PREFIX: Final = "upload-"
UNFINISHED: Final = ".unfinished-"
"""The prefix of the names of folders that are being written or deleted."""
_OF_OTHERS: Final = 0o077
_CHECKOUT: Final = Path(__file__).absolute().parents[3]
_ID_PATTERN: Final = re.compile(r"[0-9a-f]{32}")


def store_folder() -> Path:
    """Return the folder of the store, which may not exist yet.

    It is what BPE_EXPLORER_RUNS names, or else the `.runs` of a checkout that has one, as earlier
    versions made it, or else `runs` in the user's data folder. Raises MissingExtraError if the
    package that knows the data folder is not installed.

    >>> with_variable = os.environ | {VARIABLE: "/data/runs"}
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, with_variable):
    ...     store_folder().as_posix()
    '/data/runs'
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    if (earlier := _CHECKOUT / ".runs").is_dir():
        return earlier
    with needs_extra("formats", "The store of runs"):
        from platformdirs import user_data_path

    return user_data_path("bpe-explorer", appauthor=False) / "runs"


def make_store_folder() -> Path:
    """Create the store's folder, which only its owner may read, and return it. Raises OSError.

    The names in it open what visitors trained and uploaded.
    """
    folder = store_folder()
    make_folder(folder)
    keep_store_private()
    return folder


def keep_store_private() -> None:
    """Take the permissions of other users from the store's folder, if it exists and is ours."""
    folder = store_folder()
    # Not that of another user, nor on a drive that has no permissions.
    with suppress(OSError):
        if (mode := stat.S_IMODE(folder.stat().st_mode)) & _OF_OTHERS:
            folder.chmod(mode & ~_OF_OTHERS)


def new_id() -> str:
    """Return a new random id.

    >>> is_id(new_id())
    True
    """
    # Hexadecimal, because ids become part of component keys, in which Streamlit refuses "__".
    return secrets.token_hex(16)


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id; nothing else may become part of a path.

    >>> is_id("0123456789abcdef" * 2), is_id("../secret")
    (True, False)
    """
    return _ID_PATTERN.fullmatch(text) is not None


def is_entry_name(text: str) -> bool:
    """Return whether a text has the form of an entry's name: an id, or `upload-` and an id.

    >>> is_entry_name("upload-" + "a" * 32), is_entry_name("upload-..")
    (True, False)
    """
    return is_id(text.removeprefix(UPLOAD_PREFIX))
