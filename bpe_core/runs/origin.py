"""The version and the text that a training run came from."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from bpe_core.corpus.held_out import Split


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """What is known of a run besides its configuration; None for what was not recorded."""

    version: str | None = None
    """The version of bpe_core that trained it."""
    split: Split | None = None
    """How its text was divided from a corpus; None if it was all of the text given."""


def this_version() -> str:
    """Return the version of bpe_core, which may run from a checkout without being installed.

    >>> this_version()
    '0.1.0'
    """
    package = __name__.partition(".")[0]
    return str(import_module(package).__version__)
