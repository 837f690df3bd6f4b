"""A run's name in a separate small file, so that runs can be listed without loading them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from bpe_core.errors import BpeError
from bpe_core.files.store import NAME, read_checked
from bpe_core.formats.run_archive import read_config
from ui.look.run_names import RunName


class _Stored(msgspec.Struct):
    title: str
    vocab_size: int
    config: dict[str, Any]
    trained_at: datetime | None


def write_run_name(folder: Path, name: RunName) -> None:
    """Write a run's name into its folder."""
    stored = _Stored(name.title, name.vocab_size, asdict(name.config), name.trained_at)
    (folder / NAME).write_bytes(msgspec.json.encode(stored))


def read_run_name(folder: Path) -> RunName | None:
    """Return a run's name; None if its file is missing or damaged. The run also contains it.

    Raises PermissionError.
    """
    try:
        found = msgspec.json.decode(read_checked(folder, NAME), type=_Stored)
        config = read_config(found.config)
        time = None if found.trained_at is None else found.trained_at.astimezone(UTC)
    except PermissionError:
        raise
    except (OSError, ValueError, OverflowError, RecursionError, BpeError):
        return None
    return RunName(folder.name, found.title, found.vocab_size, config, time)
