"""Keep what opening a tokenizer's files found out, so that the next process opens them fast.

Kept are encoders that run here, of files that take long to open: vocabulary, merges, added tokens
and the tables of kernels, as arrays (see `kept_arrays`). The key is a hash of the files, of the
arguments, of this package's sources and of the versions of the libraries that the first opening
compares with. If any of these differs, the files are opened and checked again.

Only files that a program names are kept, never those of a server's visitors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import metadata
from typing import Any, Final

from bpe_core.chat import ChatTemplate
from bpe_core.files import Kept
from bpe_core.kernels import kernels_are_ready
from bpe_core.pretokenizers import AddedToken, Spaces
from bpe_core.tokenizer import (
    NamedEncoder,
    StoredTable,
    Tokenizer,
    can_store,
    find_own,
    table_to_arrays,
)

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
    if tokenizer is None or not can_store(tokenizer.table) or not Kept.is_possible():
        return None
    table, arrays = table_to_arrays(tokenizer.table)
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
    table = StoredTable(facts["table"], kept.arrays, tables)
    tokenizer = Tokenizer.from_table(
        table,
        facts["pretokenizer"],
        [AddedToken(*each) for each in facts.get("added", ())],
        Spaces(**facts["spaces"]) if "spaces" in facts else None,
        leaves_out=facts.get("leaves_out", False),
    )
    chat = ChatTemplate(**facts["chat"]) if "chat" in facts else None
    return NamedEncoder(facts["name"], tokenizer, facts["provenance"], chat)
