"""Prepare the encoding of a corpus: open the tokenizer, divide the text, predict the result."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from functools import partial
from os import PathLike
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from uuid import uuid4

import numpy as np

from bpe_core.corpus import DecodingErrors, reading
from bpe_core.errors import ConfigError, EmptyCorpusError
from bpe_core.formats import OwnEncoder, special_roles
from bpe_core.kernels import n_threads
from bpe_core.scale import DividedSources, Engine, Stretch, ThisProcess, WorkFolder, divide_sources
from bpe_core.tokenizer import Encoder, Tokenizer
from bpe_core.training_data.kept_columns import check_columns, check_files
from bpe_core.training_data.manifest import EosFacts
from bpe_core.training_data.shard_formats import Dtype, Format, dtype_for
from bpe_core.training_data.stretch_ids import (
    SharedTokenizer,
    StretchToEncode,
    cutting_pretokenizer,
    encode_stretch,
    open_given,
    share_tokenizer,
)

AUTO: Final = "auto"


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


class OpenedTokenizer(NamedTuple):
    """A tokenizer, and how it encodes a corpus."""

    encoder: Encoder
    path: str
    """Its path or name; empty if it was given as itself."""
    ending: EosFacts | None
    """What follows each document."""
    dtype: Dtype
    """The type of its ids in the files."""

    @property
    def engine(self) -> ThisProcess:
        """The engine for this process: several stretches at a time if that is faster."""
        merges = self.encoder if isinstance(self.encoder, Tokenizer) else None
        if isinstance(self.encoder, OwnEncoder):
            merges = self.encoder.tokenizer
        # The regex package makes objects of all matches, so threads would only wait for each other,
        # and their time would count against the limit for a pattern.
        is_cut_by_regex = merges is not None and merges.pretokenizer.name.startswith("regex:")
        return ThisProcess(1 if is_cut_by_regex else n_threads())

    def divide(
        self,
        sources: Iterable[str | PathLike[str]],
        engine: Engine,
        *,
        text_column: str | None,
        errors: DecodingErrors,
        skip_damaged: bool,
        stretch_bytes: int | None = None,
        written_to: Iterable[str] = (),
        columns: Sequence[str] = (),
        saved_in: WorkFolder,
    ) -> DividedSources:
        """Divide sources where it can encode the parts, and check that `columns` can be kept.

        Raises what `divide_sources` and `check_files` raise, and EmptyCorpusError for files without
        text.
        """
        divided = divide_sources(
            sources,
            engine,
            pretokenizer=cutting_pretokenizer(self.encoder),
            text_column=text_column,
            errors=errors,
            stretch_bytes=stretch_bytes,
            skip_damaged=skip_damaged,
            written_to=written_to,
            lists_columns=bool(columns),
            saved_in=saved_in,
        )
        check_files(columns, divided.files)
        if not divided.stretches:
            raise EmptyCorpusError("The corpus is empty: give at least one character.")
        return divided

    def task(
        self,
        stretch: Stretch,
        shared: SharedTokenizer,
        val_share: float = 0.0,
        columns: tuple[str, ...] = (),
    ) -> StretchToEncode:
        """Return the task of encoding a stretch."""
        eos_id = self.ending.id if self.ending is not None else None
        return StretchToEncode(stretch, shared, eos_id, val_share, self.dtype, columns)


def open_tokenizer(
    tokenizer: Tokenizer | str | PathLike[str], format: Format, eos: str | None
) -> OpenedTokenizer:
    """Open a tokenizer to encode a corpus; raises what `open_given` and `find_eos` raise.

    >>> open_tokenizer("gpt2", "bin", None).dtype
    '<u2'
    """
    encoder, path = open_given(tokenizer)
    dtype = dtype_for(format, max(encoder.vocab) + 1)
    return OpenedTokenizer(encoder, path, find_eos(encoder, eos), dtype)


def find_eos(encoder: Encoder, eos: str | None) -> EosFacts | None:
    """Return the special token that ends documents: the named one, by default the tokenizer's.

    Raises ConfigError if there is none.

    >>> from bpe_core.tokenizer import gpt2
    >>> find_eos(gpt2(), "auto")
    EosFacts(token='<|endoftext|>', id=50256)
    """
    if eos is None:
        return None
    known = encoder.special_tokens
    token = special_roles(known).get("eos_token") if eos == AUTO else eos
    if isinstance(token, str) and token in known:
        return EosFacts(token, known[token])
    names = ", ".join(sorted(known, key=known.__getitem__)[:8]) or "none"
    problem = "no known end-of-text token" if eos == AUTO else f"no special token {eos!r:.60}"
    raise ConfigError(
        f"The tokenizer has {problem}; its special tokens: {names}. Name one with --eos (eos=), or "
        "'none' (None) to put nothing between documents."
    )


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
    with TemporaryDirectory(prefix="bpe-estimate-") as work:
        folder = WorkFolder(work)
        divided = opened.divide(
            sources,
            engine,
            text_column=text_column,
            errors=errors,
            skip_damaged=skip_damaged,
            stretch_bytes=_STRETCH_BYTES,
            columns=columns,
            saved_in=folder,
        )
        source_bytes = sum(stretch.n_bytes for stretch in divided.stretches)
        shared = share_tokenizer(opened.encoder, opened.path, folder)
        tasks = [opened.task(each, shared) for each in _choose(divided.stretches, folder)]
        encode = partial(encode_stretch, folder=folder, n_threads=engine.threads_for(len(tasks)))
        encode(tasks[0])  # untimed: this opens the tokenizer and fills caches
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
