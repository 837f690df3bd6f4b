"""Open any tokenizer: a file, a folder, or a published tokenizer by its name.

What opening a tokenizer's files found out is kept, so that the next process opens them fast:
encoders that run here, of files that take long to open: vocabulary, merges, added tokens
and the tables of kernels, as arrays (see `kept_arrays`). The key is a hash of the files, of the
arguments, of this package's sources and of the versions of the libraries that the first opening
compares with. If any of these differs, the files are opened and checked again.

Only files that a program names are kept, never those of a server's visitors.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from importlib import metadata
from typing import Any, Final

from bpe_core.chat import ChatTemplate
from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, FormatError, MissingFileError
from bpe_core.files import Kept
from bpe_core.formats.folder_files import locate, naming, read_files_at, read_note
from bpe_core.formats.published.catalogue import (
    CATALOGUE,
    TIKTOKEN_ENCODINGS,
    Published,
    TiktokenEncoding,
)
from bpe_core.kernels import kernels_are_ready, without_garbage_collection
from bpe_core.pretokenizers import Spaces
from bpe_core.tokenizer import AddedToken, NamedEncoder, Tokenizer, TokenTable, find_own

MIN_BYTES: Final = 200_000
"""The size of files from which they are kept; smaller ones open in 0.1 s."""
_LIBRARIES: Final = ("numpy", "regex", "sentencepiece", "tiktoken", "tokenizers")
_TABLES: Final = "kernels."


def open_kept(
    purpose: str,
    files: Mapping[str, bytes],
    pretokenizer: str | None,
    open_first: Callable[[], NamedEncoder],
) -> NamedEncoder:
    """Return what is kept of these files, or what `open_first` returns, which is kept then.

    `purpose` names what they are opened for, which decides what is refused.
    """
    if sum(map(len, files.values())) < MIN_BYTES:
        return open_first()
    key = _hash_all(purpose, files, pretokenizer)
    kept = Kept.find(key)
    if kept is not None:
        return _to_encoder(kept)
    opened = open_first()
    to_keep = _to_keep(opened)
    if to_keep is not None:
        to_keep.keep(key)
    return opened


def _hash_all(purpose: str, files: Mapping[str, bytes], pretokenizer: str | None) -> str:
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    from_it = [Kept.hash_package(), [*map(_version, _LIBRARIES)], kernels_are_ready()]
    parts = [purpose, hashes, repr(pretokenizer), *from_it]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def _to_keep(opened: NamedEncoder) -> Kept | None:
    """Return what has to be kept of an encoder, or None.

    Nothing is kept of one that another library runs. Without a folder to keep them in, the tables
    of kernels are not built: that takes as long as opening the file.
    """
    tokenizer = find_own(opened)
    if tokenizer is None or not Kept.is_possible():
        return None
    if (stored := tokenizer.table.to_arrays()) is None:
        return None
    table, arrays = stored
    facts: dict[str, Any] = {
        "name": opened.name,
        "provenance": opened.provenance,
        "pretokenizer": tokenizer.pretokenizer.name,
        "table": table,
    }
    if (chat := opened.chat) is not None:
        facts["chat"] = asdict(chat)
    if tokenizer.added:
        facts["added"] = [list(each) for each in tokenizer.added]
    if tokenizer.own_spaces is not None:
        facts["spaces"] = asdict(tokenizer.own_spaces)
    if tokenizer.left_out:
        facts["leaves_out"] = True
    # Those of kernels that need ids for missing bytes are not the table's.
    tables = {} if tokenizer.left_out else tokenizer.encoder.kernels.tables_to_keep()
    return Kept(facts, arrays | {f"{_TABLES}{name}": array for name, array in tables.items()})


def _to_encoder(kept: Kept) -> NamedEncoder:
    facts = kept.facts
    tables = {
        name.removeprefix(_TABLES): array
        for name, array in kept.arrays.items()
        if name.startswith(_TABLES)
    }
    table = TokenTable.of_arrays(facts["table"], kept.arrays, tables)
    tokenizer = Tokenizer.from_table(
        table,
        facts["pretokenizer"],
        [AddedToken(*each) for each in facts.get("added", ())],
        Spaces(**facts["spaces"]) if "spaces" in facts else None,
        leaves_out=facts.get("leaves_out", False),
    )
    chat = ChatTemplate(**facts["chat"]) if "chat" in facts else None
    return NamedEncoder(facts["name"], tokenizer, facts["provenance"], chat)


def open_encoder(
    path_or_name: str | os.PathLike[str], pretokenizer: str | None = None
) -> NamedEncoder:
    """Open any tokenizer: the path of a file or folder, or a name such as "gpt2" or "llama3".

    OpenAI's tokenizers also have tiktoken's names, such as "cl100k_base", and those of models in
    tiktoken's table, such as "gpt-4o". "hf:org/model" and "hf:org/model@revision" are the tokenizer
    of a model on Hugging Face's hub, which is downloaded if the cache of the hub's client does not
    have it; nothing else is downloaded.

    The result is an `Encoder`: it encodes and decodes texts, one or several, to lists and arrays.
    `engine` says whether bpe_core or the publisher's library encodes, and `provenance` why. A path
    takes precedence over a name; "./gpt2" is always a path. Only the vocabulary of a GGUF file is
    read, however large the file is. `trained_on` says what the file's own record, or a note next to
    it, says that it was trained on. Pass `pretokenizer` for files that do not store it.

    Raises `UnavailableError` for a name that has not been fetched, `FormatError` for a file that is
    not a tokenizer, `ConfigError` if the pre-tokenizer is missing or is not the one that the file
    names, and `MissingExtraError` for a library that is not installed. For a model on the hub, also
    raises what `fetch` raises.

    >>> opened = open_encoder("gpt2")
    >>> opened.encode("The quick"), opened.engine, opened.name
    ([464, 2068], 'bpe_core', 'GPT-2')
    >>> opened.decode([464, 2068])
    'The quick'
    """
    return _open(path_or_name, pretokenizer, plainest=False)


def open_plainest(
    path_or_name: str | os.PathLike[str], pretokenizer: str | None = None
) -> NamedEncoder:
    """Open a file as the `Tokenizer` that `load` returns if it does, or else as `open_encoder`.

    Files are read once. Raises what `open_encoder` raises.

    >>> open_plainest("gpt2").name
    'GPT-2'
    """
    return _open(path_or_name, pretokenizer, plainest=True)


def _open(
    path_or_name: str | os.PathLike[str], pretokenizer: str | None, *, plainest: bool
) -> NamedEncoder:
    if not is_a(path_or_name, str, os.PathLike):
        raise ArgumentTypeError(f"Expected a path or a name, got {describe(path_or_name)}.")
    if not os.fspath(path_or_name):
        raise FormatError("The path is empty. Name a file, a folder or a published tokenizer.")
    path, model = locate(path_or_name)
    try:
        files = read_files_at(path)
    except MissingFileError:
        return _open_name(os.fspath(path_or_name), pretokenizer)

    def open_first() -> NamedEncoder:
        from bpe_core.formats.opening.opening import open_as_merges, open_files

        first = open_as_merges if plainest else open_files
        return first(files, pretokenizer=pretokenizer)

    purpose = "open as merges" if plainest else "open"
    with naming(path_or_name):
        opened = open_kept(purpose, files, pretokenizer, open_first)
    if model is not None:
        return model.naming(opened)
    return replace(opened, trained_on=read_note(path, files))


def _open_name(name: str, pretokenizer: str | None) -> NamedEncoder:
    """Open a published tokenizer, or an encoding of tiktoken's, by its name."""
    known = Published.known_name(name)
    if known is None:
        raise MissingFileError(
            f"{name} is neither a file nor the name of a published tokenizer. Check the path, use "
            f"one of {', '.join((*CATALOGUE, *TIKTOKEN_ENCODINGS))}, or hf:org/model for a model "
            "on the hub."
        )
    if known in CATALOGUE:
        opened = open_published(CATALOGUE[known])
    else:
        encoding = TIKTOKEN_ENCODINGS[known]
        is_published = encoding.special_tokens is None
        found = _open_published(CATALOGUE[encoding.published], None if is_published else known)
        opened = NamedEncoder(known, found.encoder, found.provenance)
    if pretokenizer is not None:
        _check_cut(opened, pretokenizer)
    return opened


def open_published(found: Published) -> NamedEncoder:
    """Open a published tokenizer that is installed or was fetched.

    Raises `UnavailableError` if it was not fetched, and `IntegrityError` if its file is damaged.

    >>> open_published(CATALOGUE["gpt2"]).provenance
    'Published by OpenAI (modified MIT). Pre-tokenizer gpt2, encoded exactly by bpe_core.'
    """
    return _open_published(found, found.encoding)


def _open_published(found: Published, name: str | None) -> NamedEncoder:
    """Open a published tokenizer, with the tokens of an encoding of tiktoken's if one is named."""
    who = f"Published by {found.publisher} ({found.licence})."
    encoding = None if name is None else TIKTOKEN_ENCODINGS[name]
    if found.package is None:
        from bpe_core.tokenizer import gpt2

        cut = "Pre-tokenizer gpt2, encoded exactly by bpe_core."
        tokenizer = gpt2() if encoding is None else _extended_gpt2(encoding)
        return NamedEncoder(found.title, tokenizer, f"{who} {cut}")
    files = {found.file_name: found.read()}
    special_tokens = None if encoding is None else encoding.special_tokens

    def open_first() -> NamedEncoder:
        from bpe_core.formats.opening.engines import choose_engine
        from bpe_core.formats.opening.opening import read_description

        # What is read is half a million lists, which each search would look through.
        with without_garbage_collection():
            read = read_description(files, special_tokens=special_tokens)
            # The SHA-256 was checked, and the tests compare these files with their libraries.
            return choose_engine(replace(read, is_known=True))[1]

    purpose = "open published" if name is None else f"open published as {name}"
    opened = open_kept(purpose, files, None, open_first)
    return NamedEncoder(found.title, opened.encoder, f"{who} {opened.provenance}", opened.chat)


def _extended_gpt2(encoding: TiktokenEncoding) -> Tokenizer:
    """Return GPT-2's tokenizer with the ranks and the special tokens of an encoding."""
    from bpe_core.formats.tiktoken_file import recover_rank_merges
    from bpe_core.tokenizer import gpt2

    base = gpt2()
    special = set(base.special_tokens.values())
    ranks = {token: id for id, token in base.vocab.items() if id not in special}
    all_ranks = ranks | dict(encoding.more_ranks)
    return recover_rank_merges(
        all_ranks, base.pretokenizer.name, encoding.special_tokens or {}
    ).tokenizer()


def _check_cut(opened: NamedEncoder, pretokenizer: str) -> None:
    """Raise `ConfigError` if a pre-tokenizer is not the one of a published tokenizer."""
    from bpe_core.formats.description import check_not_overruled

    merges = opened.merged_by
    if merges is not None:
        check_not_overruled(opened.name, merges, pretokenizer, None)
    else:
        raise ConfigError(
            f"{opened.name} itself says how text is cut, and {opened.engine} cuts it so. Leave "
            "out the pre-tokenizer."
        )
