"""Keep new entries in the store, completely or not at all."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bpe_core.errors import NotKeptError
from bpe_core.files.store import (
    UNFINISHED,
    folder_size,
    make_store_folder,
    store_folder,
    write_manifest,
)
from bpe_core.files.whole_files import move_whole
from ui.storage.sweeping import make_room

_log = logging.getLogger(__name__)


@contextmanager
def new_folder(folder: Path) -> Generator[Path]:
    """Yield a temporary folder that becomes `folder` if the block succeeds, else is deleted."""
    unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=make_store_folder()))
    try:
        yield unfinished
        move_whole(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


@contextmanager
def kept_folder(name: str) -> Generator[Path]:
    """Yield a folder to write into; it is kept under `name` if the block succeeds.

    The checksums of its files are written next to them. Raises NotKeptError if there is no room for
    it, or no permission.
    """
    with os_errors_as_not_kept(), new_folder(store_folder() / name) as folder:
        yield folder
        write_manifest(folder)
        make_room(folder_size(folder))


@contextmanager
def os_errors_as_not_kept() -> Generator[None]:
    """Log an OSError raised in the block, and raise a NotKeptError in its place."""
    try:
        yield
    except OSError as error:
        # The path goes to the server's log only: visitors must not see it.
        _log.error("Cannot write to %s: %s", store_folder(), error)
        if isinstance(error, PermissionError):
            raise NotKeptError(
                "The server cannot keep anything now: the folder for it belongs to another user of "
                "this computer, or is read-only."
            ) from error
        raise NotKeptError(
            "The server cannot keep anything now: its disk is full or read-only."
        ) from error
