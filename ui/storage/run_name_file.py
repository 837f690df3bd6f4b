"""A run's name in a separate small file, so that runs can be listed without loading them."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bpe_core.errors import BpeError
from bpe_core.files.store.entries import NAME
from bpe_core.files.store.manifest import read_checked
from bpe_core.runs.check_config import check_config
from bpe_core.types import TrainingConfig
from ui.look.run_names import RunName


def write_run_name(folder: Path, name: RunName) -> None:
    """Write a run's name into its folder."""
    fields = {
        "title": name.title,
        "vocab_size": name.vocab_size,
        "config": asdict(name.config),
        "trained_at": name.trained_at.isoformat() if name.trained_at is not None else None,
    }
    (folder / NAME).write_text(json.dumps(fields), encoding="ascii")


def read_run_name(folder: Path) -> RunName | None:
    """Return a run's name; None if its file is missing or damaged. The run also contains it.

    Raises PermissionError.
    """
    try:
        fields: Any = json.loads(read_checked(folder, NAME))
        title, vocab_size, time = fields["title"], fields["vocab_size"], fields["trained_at"]
        config = TrainingConfig(**fields["config"])
        check_config(config)
        if not (isinstance(title, str) and isinstance(vocab_size, int)):
            return None
        if not isinstance(config.pretokenizer, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return None
        trained_at = None if time is None else datetime.fromisoformat(time).astimezone(UTC)
    except PermissionError:
        raise
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError, BpeError):
        return None
    return RunName(folder.name, title, vocab_size, config, trained_at)
