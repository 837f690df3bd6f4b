"""Predict what encoding a corpus will give and take, from a sample of its text."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from functools import partial
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from uuid import uuid4

import numpy as np

from bpe_core.corpus.text_decoding import DecodingErrors
from bpe_core.corpus.urls import reading
from bpe_core.errors import EmptyCorpusError
from bpe_core.scale.stretches import Stretch
from bpe_core.scale.work_folder import WorkFolder
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.training_data.kept_columns import check_columns
from bpe_core.training_data.preparing import AUTO, open_tokenizer
from bpe_core.training_data.shard_formats import Format
from bpe_core.training_data.stretch_ids import encode_stretch

_STRETCH_BYTES: Final = 1 << 20
_MAX_SAMPLED: Final = 32
_MAX_SAMPLED_BYTES: Final = 1 << 26
_MAX_PACKED_BYTES: Final = 1 << 24
"""The beginning of a packed file that stands for the whole; it cannot be divided."""


class Estimate(NamedTuple):
    """What a whole corpus is likely to give, by what a sample of it gave."""

    source_bytes: int
    """The size of all files as they are, packed or not."""
    sampled_bytes: int
    """The size of the sample, measured likewise."""
    n_tokens: int
    out_bytes: int
    """The size of the ids; a Parquet file is smaller, because it is compressed."""
    seconds: float
    """In one process on this machine, with all its threads."""


def estimate_corpus(
    sources: Iterable[str | os.PathLike[str]],
    tokenizer: Tokenizer | str | os.PathLike[str],
    *,
    format: Format = "bin",
    eos: str | None = AUTO,
    text_column: str | None = None,
    keep_columns: Sequence[str] = (),
    errors: DecodingErrors = "strict",
    skip_damaged: bool = False,
) -> Estimate:
    """Encode some stretches spread over a corpus, and extrapolate; arguments as `encode_corpus`.

    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("hug " * 1_000)
    ...     estimate_corpus([folder], "gpt2").n_tokens
    1003
    """
    columns = check_columns(keep_columns, format, None)
    opened = open_tokenizer(tokenizer, format, eos)
    engine = opened.engine
    divided = opened.divide(
        sources,
        engine,
        text_column=text_column,
        errors=errors,
        skip_damaged=skip_damaged,
        stretch_bytes=_STRETCH_BYTES,
        columns=columns,
    )
    source_bytes = sum(stretch.n_bytes for stretch in divided.stretches)
    with TemporaryDirectory(prefix="bpe-estimate-") as work:
        folder = WorkFolder(work)
        shared = opened.share(folder)
        tasks = [opened.task(each, shared) for each in _choose(divided.stretches, folder)]
        encode = partial(encode_stretch, folder=folder, n_threads=engine.threads_for(len(tasks)))
        encode(tasks[0])  # opens the tokenizer, and fills caches
        started = time.perf_counter()
        records = [record for _, record in engine.run(encode, tasks)]
        seconds = time.perf_counter() - started
    sampled = sum(task.stretch.n_bytes for task in tasks)
    share = source_bytes / sampled
    n_tokens = sum(record["n_tokens"] for record in records)
    if not n_tokens:
        raise EmptyCorpusError("The sample has no text: give at least one character.")
    return Estimate(
        source_bytes,
        sampled,
        round(n_tokens * share),
        round(n_tokens * share) * np.dtype(opened.dtype).itemsize,
        seconds * share,
    )


def _choose(stretches: list[Stretch], folder: WorkFolder) -> list[Stretch]:
    """Return stretches spread over all, as many as are quickly encoded; at least one."""
    places = sorted({*np.linspace(0, len(stretches) - 1, _MAX_SAMPLED).round().astype(int)})
    spread = [_shorten(stretches[place], folder) for place in places]
    chosen: list[Stretch] = []
    n_bytes = 0
    for stretch in sorted(spread, key=lambda each: each.n_bytes):
        n_bytes += stretch.n_bytes
        if chosen and n_bytes > _MAX_SAMPLED_BYTES:
            break
        chosen.append(stretch)
    return chosen


def _shorten(stretch: Stretch, folder: WorkFolder) -> Stretch:
    """Return the beginning of a large packed file, copied to the folder; others as they are."""
    part, source = stretch.parts[0], stretch.parts[0].source
    if source.packing is None or source.kind == "whole" or source.size <= _MAX_PACKED_BYTES:
        return stretch
    copy = f"{uuid4().hex}.packed"
    with reading(source.url) as file, folder.writing(copy) as short:
        short.write(file.read(_MAX_PACKED_BYTES))
    begun = source._replace(url=folder.path(copy), size=_MAX_PACKED_BYTES)
    # It ends in the middle, so it reads as a damaged file does.
    return stretch._replace(parts=(part._replace(source=begun),), skip_damaged=True)
