"""The composition of a run's training text and held-out text, stored with the run."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpe_core.corpus.composition import Composition, FileShare, ScriptShare
from bpe_core.corpus.corpus import Corpus

_MAX_FILES = 100


class Compositions(NamedTuple):
    """The compositions of both texts; None for held-out text if there is none."""

    training: Composition
    held_out: Composition | None


def compose_both(training: Corpus | None, held_out: Corpus) -> Compositions | None:
    """Return the compositions of both texts, with the largest hundred files of each."""
    if training is None:
        return None
    return Compositions(
        _largest(training.composition()),
        _largest(held_out.composition()) if held_out.n_bytes else None,
    )


def read_compositions(stored: list[Any] | None) -> Compositions | None:
    """Return compositions read from JSON; None for a run of an earlier version.

    Raises TypeError or ValueError if they are damaged.
    """
    if stored is None:
        return None
    training, held_out = stored
    return Compositions(_read(training), _read(held_out) if held_out is not None else None)


def _largest(found: Composition) -> Composition:
    return found._replace(files=found.files[:_MAX_FILES], types=found.types[:_MAX_FILES])


def _read(stored: list[Any]) -> Composition:
    files, types, scripts = stored
    return Composition(
        tuple(FileShare(str(name), int(size), float(share)) for name, size, share in files),
        tuple(FileShare(str(name), int(size), float(share)) for name, size, share in types),
        tuple(ScriptShare(str(name), int(size), float(share)) for name, size, share in scripts),
    )
