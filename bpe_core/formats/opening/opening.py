"""Read a tokenizer's files, in whatever format, and open them as an encoder.

Each format's reader returns a `Description`. What another library reads is tried elsewhere first.

A file within all limits can still take a minute or gigabytes, or end the process in a compiled
library. So such files are opened in another process, which answers with their description, and the
encoder is built from that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Final

from bpe_core.corpus import is_zip
from bpe_core.errors import BpeError, FormatError, ProcessError, UnforeseenError
from bpe_core.extras import needs_extra
from bpe_core.formats import gpt2_files
from bpe_core.formats.across_words import describe_sentencepiece
from bpe_core.formats.checking.probe import PROBE
from bpe_core.formats.description import Description, Given, check_not_overruled
from bpe_core.formats.folder_files import MAX_BYTES, PAIRS, unpacked
from bpe_core.formats.gguf.gguf_header import looks_like_gguf
from bpe_core.formats.gguf.gguf_vocabulary import describe_gguf
from bpe_core.formats.huggingface import FILE_NAME, describe_huggingface
from bpe_core.formats.json_files import looks_like_json, parse_json
from bpe_core.formats.native import describe_native
from bpe_core.formats.opening.engines import (
    build_encoder,
    build_merges,
    choose_engine,
    has_steps,
    open_here,
)
from bpe_core.formats.patterns import check_patterns
from bpe_core.formats.published.catalogue import is_published
from bpe_core.formats.published.hub_names import is_sidecar
from bpe_core.formats.running.run_by_tokenizers import ForeignTokenizer
from bpe_core.formats.sentencepiece_model import looks_like_sentencepiece
from bpe_core.formats.sidecars import Sidecars, add_sidecars
from bpe_core.formats.tiktoken_file import (
    describe_tekken,
    describe_tiktoken,
    looks_like_tekken,
    read_ranks,
)
from bpe_core.processes import Limits
from bpe_core.tokenizer import NamedEncoder

MIN_BYTES: Final = 200_000
"""The size from which a stranger's files are worth a process, which takes 0.4 s to start.
Smaller files cannot take long or much memory, except in a library that reads them."""
_MAX_MEMORY: Final = 3 * Limits.GB
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
    read = replace(read_description(files, pretokenizer), is_known=is_known)
    return open_here(read, pretokenizer) or _open_elsewhere(files, pretokenizer, place)


def open_as_merges(files: Mapping[str, bytes], *, pretokenizer: str | None = None) -> NamedEncoder:
    """Open files as the `Tokenizer` that `load` returns if it does, or else as `open_files` does.

    >>> open_as_merges({"a.tiktoken": b"YQ== 0\\n"}, pretokenizer="gpt2").encode("aa")
    [0, 0]
    """
    read = read_description(files, pretokenizer)
    try:
        tokenizer = None if has_steps(read) else build_merges(read)
    except FormatError:
        tokenizer = None
    if tokenizer is None:
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
    """Open a stranger's files as `open_files` does, but read zips and large files elsewhere too.

    Raises what `open_files` raises, and `FormatError` if they take too much time or memory.

    >>> open_untrusted({"a.tiktoken": b"YQ== 0\\n"}, pretokenizer="gpt2").encode("aa")
    [0, 0]
    """
    is_small = sum(map(len, files.values())) < MIN_BYTES and not any(map(is_zip, files.values()))
    if is_small:
        return open_files(files, pretokenizer=pretokenizer, place=place)
    return _open_elsewhere(files, pretokenizer, place)


def describe_files(files: Mapping[str, bytes], pretokenizer: str | None) -> Description:
    """Return the description of files whose engine was chosen and tried; runs in a process.

    Raises what `open_files` raises, and `FormatError` for a pattern that is very slow.
    """
    # Each thread would reserve address space, which counts as memory.
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
    chosen, opened = choose_engine(read_description(files, pretokenizer), pretokenizer)
    if chosen.merges is None:
        # Some tokenizers that can be built crash at the first text; those that only fail may be
        # opened.
        with suppress(BpeError):
            opened.encode(PROBE)
    if isinstance(opened.encoder, ForeignTokenizer):
        check_patterns(opened.encoder.described, opened.encode)
    return chosen


def _open_elsewhere(
    files: Mapping[str, bytes],
    pretokenizer: str | None,
    place: Callable[[], AbstractContextManager[object]],
) -> NamedEncoder:
    with needs_extra("formats", "Opening this file"):
        from bpe_core.processes import call

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


def read_description(
    files: Mapping[str, bytes],
    pretokenizer: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Description:
    """Read a tokenizer's file, or GPT-2's two files, and what transformers keeps next to them.

    The format is recognised from the content. Pass `pretokenizer` and `special_tokens` for formats
    that do not store them. Raises `FormatError` if the files are not a tokenizer, and `ConfigError`
    if an argument is missing.

    >>> read_description({"mine": b"YQ== 0\\nYWE= 1\\n"}, pretokenizer="none").merges.merges
    [(0, 0, 1)]
    """
    files = unpacked(files)
    beside = Sidecars(files)
    main = {name: data for name, data in files.items() if not is_sidecar(name)}
    for name, data in main.items():
        if len(data) > MAX_BYTES:
            raise FormatError(
                f"{name} has more than {MAX_BYTES:,} bytes, the most that is read of a tokenizer."
            )
    # The vocabulary first.
    names = sorted(main, key=lambda name: not name.endswith(".json"))
    if len(names) not in (1, 2):
        raise FormatError(
            f"Expected one file, or two ({gpt2_files.VOCABULARY} and {gpt2_files.MERGES}), "
            f"got {len(names)}."
        )
    given = Given(", ".join(main), main[names[0]], beside, pretokenizer, special_tokens)
    found = _read_pair(given, main[names[1]]) if len(names) == 2 else _read_one(given)
    chat = beside.chat(found.first_token)
    return found if chat is None else replace(found, chat=chat)


def _read_pair(given: Given, merges: bytes) -> Description:
    if given.beside:
        return describe_huggingface(given, gpt2_files.join_pair(given, merges), names_cut=False)
    return gpt2_files.describe_gpt2_files(given, merges)


def _read_one(given: Given) -> Description:
    name, data = given.name, given.data
    for vocabulary, merges in PAIRS:
        if name == merges:
            raise FormatError(
                f"{name} holds only merges. Add the vocabulary they belong to, {vocabulary}."
            )
    if looks_like_gguf(data):
        return describe_gguf(given)
    if looks_like_sentencepiece(data):
        return describe_sentencepiece(given, data)
    if looks_like_json(data, name):
        return _read_json(given)
    try:
        read_ranks(data.lstrip().partition(b"\n")[0])
    except FormatError as error:
        raise FormatError(
            f"{name} is not a tokenizer: it is neither JSON nor a .tiktoken file. {error}"
        ) from None
    return describe_tiktoken(given)


def _read_json(given: Given) -> Description:
    described = parse_json(given.data, given.name)
    if "model" in described:
        return describe_huggingface(given, add_sidecars(described, given.beside))
    if looks_like_tekken(described):
        return describe_tekken(given, described)
    if "format" in described:
        return describe_native(given, described)
    raise FormatError(
        f"{given.name} is JSON, but neither a {FILE_NAME} nor a BPE Explorer tokenizer. If it is a "
        "vocab.json, add its merges.txt."
    )
