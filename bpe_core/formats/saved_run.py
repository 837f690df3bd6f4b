"""Save a training run for its user, and load it again; the archive itself is `run_archive`."""

from __future__ import annotations

import os

from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError
from bpe_core.formats.load_save import write_files
from bpe_core.formats.run_archive import load_run, run_to_bytes
from bpe_core.runs.run import TrainingRun

__all__ = ["load_run", "save_run"]

FILE_NAME = "run.bpe-run"
"""The name of the file in a folder."""


def save_run(run: TrainingRun, path: str | os.PathLike[str]) -> None:
    """Write a run to one file, or into a folder, with all that `load_run` needs to build it again.

    Besides the tokenizer it holds the configuration, the words and their counts, the SHA-256 of the
    text and how that was divided from a corpus, and the version of bpe_core. Raises `ConfigError`
    for anything but a run, and `FormatError` if the file cannot be written.

    >>> import tempfile
    >>> import bpe_core as bpe
    >>> training, _ = bpe.Corpus.from_text("hug hugs\\n" * 100).split(0.1, seed=7)
    >>> run = bpe.train(training, bpe.TrainingConfig(260))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bpe.save_run(run, f"{folder}/mine.bpe-run")
    ...     again = bpe.load_run(f"{folder}/mine.bpe-run")
    >>> again.tokenizer == run.tokenizer, again.config == run.config, again.origin.split.seed
    (True, True, 7)
    """
    if not is_a(run, TrainingRun):
        raise ArgumentTypeError(f"Expected a TrainingRun, got {describe(run)}.")
    write_files({FILE_NAME: run_to_bytes(run)}, path)
