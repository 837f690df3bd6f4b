"""Predict what encoding a corpus will give and take, from a sample of its text."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np

from bpe_core.corpus.text_decoding import DecodingErrors
from bpe_core.errors import EmptyCorpusError
from bpe_core.scale.engines import ThisProcess
from bpe_core.scale.steps import divide_sources
from bpe_core.scale.stretches import Stretch
from bpe_core.scale.work_folder import WorkFolder
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.training_data.encode_corpus import AUTO, find_eos
from bpe_core.training_data.shard_formats import Format, dtype_for
from bpe_core.training_data.shared_tokenizer import (
    cutting_pretokenizer,
    open_given,
    share_tokenizer,
)
from bpe_core.training_data.stretch_ids import StretchToEncode, encode_stretch

_STRETCH_BYTES: Final = 1 << 20
_MAX_SAMPLED: Final = 32
_MAX_SAMPLED_BYTES: Final = 1 << 26


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
    encoder, path = open_given(tokenizer)
    ending = find_eos(encoder, eos)
    divided = divide_sources(
        sources,
        ThisProcess(),
        pretokenizer=cutting_pretokenizer(encoder),
        text_column=text_column,
        errors=errors,
        stretch_bytes=_STRETCH_BYTES,
        skip_damaged=skip_damaged,
    )
    dtype = dtype_for(format, max(encoder.vocab) + 1)
    source_bytes = sum(stretch.n_bytes for stretch in divided.stretches)
    with TemporaryDirectory(prefix="bpe-estimate-") as work:
        folder = WorkFolder(work)
        shared = share_tokenizer(encoder, path, folder)
        tasks = [
            StretchToEncode(stretch, shared, ending.id if ending else None, 0.0, dtype)
            for stretch in _choose(divided.stretches)
        ]
        encode_stretch(tasks[0], folder, None)  # opens the tokenizer, and fills caches
        started = time.perf_counter()
        records = [encode_stretch(task, folder, None) for task in tasks]
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
        round(n_tokens * share) * np.dtype(dtype).itemsize,
        seconds * share,
    )


def _choose(stretches: list[Stretch]) -> list[Stretch]:
    """Return stretches spread over all, as many as are quickly encoded; at least one."""
    if not stretches:
        raise EmptyCorpusError("The corpus is empty: give at least one character.")
    places = sorted({*np.linspace(0, len(stretches) - 1, _MAX_SAMPLED).round().astype(int)})
    chosen: list[Stretch] = []
    n_bytes = 0
    for stretch in sorted((stretches[place] for place in places), key=lambda each: each.n_bytes):
        n_bytes += stretch.n_bytes
        if chosen and n_bytes > _MAX_SAMPLED_BYTES:
            break
        chosen.append(stretch)
    return chosen
