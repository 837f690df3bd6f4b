"""Open a tokenizer's files as an encoder; what another library reads is tried elsewhere first.

A file within all limits can still take a minute or gigabytes, or end the process in a compiled
library. So such files are opened in another process, which answers with their description, and the
encoder is built from that.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final

from bpe_core.corpus.file_kinds import is_zip
from bpe_core.errors import BpeError, FormatError, ProcessError, UnforeseenError
from bpe_core.extras import needs_extra
from bpe_core.files.regular_files import ARCHIVE_DAMAGE
from bpe_core.formats.checking.probe import PROBE
from bpe_core.formats.description import Description, check_not_overruled
from bpe_core.formats.opening.engines import (
    build_encoder,
    build_tokenizer,
    choose_engine,
    open_here,
)
from bpe_core.formats.opening.reading import read_description
from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer
from bpe_core.formats.text_growth import check_growth
from bpe_core.processes.limits import GB, Limits
from bpe_core.published.catalogue import is_published
from bpe_core.tokenizer.protocol import NamedEncoder

MIN_BYTES: Final = 200_000
"""The unpacked size from which a stranger's files are worth a process, which takes 0.4 s to start.
Smaller files cannot take long or much memory, except in a library that reads them."""
_MAX_MEMORY: Final = 3 * GB
_MAX_PROCESSOR_SECONDS: Final = 25
"""Gemma's, of a quarter of a million tokens, took 8."""
# More than the processor time, because the processor may be shared with many.
_MAX_SECONDS: Final = 180.0


def open_files(
    files: Mapping[str, bytes],
    *,
    pretokenizer: str | None = None,
    place: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> NamedEncoder:
    """Open a tokenizer's file, or GPT-2's two files, in any supported format.

    Pass `pretokenizer` for formats that do not store it: a .tiktoken file needs it unless it is one
    of the published ones, a GGUF file if it does not name one that is known, and GPT-2's two files
    use GPT-2's by default. What another library has to run is first opened in another process;
    `place` makes the context in which that runs. Raises `FormatError` if the files are not a
    tokenizer, and `ConfigError` if the pre-tokenizer is missing or is not the one that they name.

    >>> import tokenizers
    >>> peer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0, "##b": 1}, unk_token="a"))
    >>> opened = open_files({"tokenizer.json": peer.to_str().encode()})
    >>> opened.encoder.encode("ab"), opened.provenance.split(".")[0]
    ([0, 1], 'A WordPiece model')
    """
    is_known = any(map(is_published, files.values()))
    opened = open_here(read_description(files, pretokenizer), pretokenizer, is_known=is_known)
    return opened or _open_elsewhere(files, pretokenizer, place)


def open_as_merges(files: Mapping[str, bytes], *, pretokenizer: str | None = None) -> NamedEncoder:
    """Open files as the `Tokenizer` that `load` returns if it does, or else as `open_files` does.

    >>> open_as_merges({"a.tiktoken": b"YQ== 0\\n"}, pretokenizer="gpt2").encode("aa")
    [0, 0]
    """
    read = read_description(files, pretokenizer, merges_only=True)
    try:
        tokenizer = build_tokenizer(read)
    except FormatError:
        if read.parsed is not None:
            check_growth(read.parsed)
        return open_here(read, pretokenizer) or _open_elsewhere(files, pretokenizer, nullcontext)
    if read.names_cut or read.library == "tokenizers":
        check_not_overruled(read.name, tokenizer, pretokenizer, None)
    return NamedEncoder(read.name, tokenizer)


def open_untrusted(
    files: Mapping[str, bytes],
    *,
    pretokenizer: str | None = None,
    place: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> NamedEncoder:
    """Open a stranger's files as `open_files` does, but read large ones in another process too.

    Raises what `open_files` raises, and `FormatError` if they take too much time or memory.

    >>> open_untrusted({"a.tiktoken": b"YQ== 0\\n"}, pretokenizer="gpt2").encode("aa")
    [0, 0]
    """
    if size_unpacked(files) < MIN_BYTES:
        return open_files(files, pretokenizer=pretokenizer, place=place)
    return _open_elsewhere(files, pretokenizer, place)


def size_unpacked(files: Mapping[str, bytes]) -> int:
    """Return the size of files in bytes; for a small zip, the unpacked size that it states.

    >>> size_unpacked({"vocab.json": b"{}", "merges.txt": b"a b"})
    5
    """
    size = sum(map(len, files.values()))
    if size >= MIN_BYTES:
        return size
    for data in files.values():
        if is_zip(data):
            try:
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    # No more than this is unpacked, even if the stated size is false.
                    size += sum(member.file_size for member in archive.infolist())
            except ARCHIVE_DAMAGE:
                continue
    return size


def describe_files(files: Mapping[str, bytes], pretokenizer: str | None) -> Description:
    """Return the description of files whose engine was chosen and tried; runs in a process.

    Raises what `open_files` raises, and `FormatError` for a pattern that is very slow.
    """
    # Each thread would reserve address space, which counts as memory.
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
    chosen, opened = choose_engine(read_description(files, pretokenizer), pretokenizer)
    if chosen.engine != "bpe_core":
        # Some tokenizers that can be built crash at the first text; those that only fail may be
        # opened.
        with suppress(BpeError):
            opened.encode(PROBE)
    if isinstance(opened.encoder, ForeignTokenizer):
        opened.encoder.check_patterns()
    return chosen


def _open_elsewhere(
    files: Mapping[str, bytes],
    pretokenizer: str | None,
    place: Callable[[], AbstractContextManager[object]],
) -> NamedEncoder:
    with needs_extra("formats", "Opening this file"):
        from bpe_core.processes.call import call

    limits = Limits(
        seconds=_MAX_SECONDS,
        # The process itself has its files and their text in memory twice.
        memory=_MAX_MEMORY + 4 * sum(map(len, files.values())),
        processor_seconds=_MAX_PROCESSOR_SECONDS,
    )
    with place():
        try:
            described = call(describe_files, files, pretokenizer, limits=limits)
        except UnforeseenError as error:
            raise _unopened(f"The library that reads it raised {error.name}.") from None
        except ProcessError as error:
            raise _unopened(str(error)) from None
    return build_encoder(described)


def _unopened(reason: str) -> FormatError:
    return FormatError(f"This file cannot be opened. {reason} Use the file as it was saved.")
