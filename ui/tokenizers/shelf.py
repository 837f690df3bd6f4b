"""The tokenizers that Compare sets side by side: the run's own, and what is on the shelf with it.

What is on the shelf goes by keys: "gpt2", "gpt4", "gpt4o", "run-ID" and "file-ID". They are in the
address, so that a refresh and a link bring them along.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.formats.opening import open_encoder
from bpe_core.formats.published import PublishedName, published_tokenizer
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.tokenizer.protocol import Encoder, NamedEncoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.look.labels import plain_text
from ui.shell import frame, workspace
from ui.shell.file_upload import counted_as_kept
from ui.storage.run_store import StoredRun, load_run
from ui.storage.upload_store import keep_tokenizer, load_tokenizer

OWN: Final = "own"
GPT2: Final = "gpt2"
FIRST_SHELF: Final = (GPT2,)
PUBLISHED: Final[Mapping[str, tuple[str, PublishedName]]] = {
    "gpt4": ("GPT-4", "cl100k_base"),
    "gpt4o": ("GPT-4o", "o200k_base"),
}
_NOTHING = "none"
_RUN = "run-"
_FILE = "file-"
_KNOWN_KEY = re.compile(r"gpt2|gpt4|gpt4o|run-sample|(run|file)-[0-9a-f]{32}")
_LONGEST_NAME = 40
_LONGEST_ADDRESS: Final = 8_000
"""Two hundred keys; browsers and servers take no longer address for granted."""

Upload = tuple[str, bytes]
"""A file as a visitor chose it: its name, which another may have too, and what is in it."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of the tokenizers that are compared."""

    key: str
    """"own" for the run's, which stays."""
    name: str
    """Different from the others'; may be a visitor's own words."""
    encoder: Encoder
    note: str
    """Where it is from, in a few words or sentences; may be a visitor's own words."""

    @property
    def merges_tokenizer(self) -> Tokenizer | None:
        """The encoder where its merges are known; None where another library encodes."""
        return self.encoder if isinstance(self.encoder, Tokenizer) else None


def wanted_keys() -> tuple[str, ...]:
    """What is on the shelf; at a visitor's first look what the address names."""
    shelf = workspace.current().shelf
    if shelf is None:
        shelf = _keys_of_address()
        workspace.update(shelf=shelf)
    return shelf


def members(stored: StoredRun) -> tuple[Member, ...]:
    """The run's own tokenizer and those on the shelf; what can't be had is taken off, and said."""
    wanted, here = wanted_keys(), workspace.current()
    found = [Member(OWN, "Yours", stored.run.tokenizer, stored.title)]
    problems: list[str] = []
    kept: list[str] = []
    for key in wanted:
        try:
            member = _member(key)
        except BpeError as error:
            problems.append(str(error))
            continue
        kept.append(key)
        if key != _RUN + stored.id:
            found.append(member)
    if problems:
        said = tuple(dict.fromkeys((*here.shelf_problems, *problems)))
        workspace.update(shelf=tuple(kept), shelf_problems=said)
    is_first = tuple(kept) == FIRST_SHELF
    frame.set_query(**{"with": None if is_first else ",".join(kept) or _NOTHING})
    names = distinct([member.name for member in found])
    return tuple(
        Member(member.key, name, member.encoder, member.note)
        for member, name in zip(found, names, strict=True)
    )


def add(keys: Iterable[str]) -> None:
    """Puts tokenizers on the shelf, once each."""
    workspace.update(shelf=tuple(dict.fromkeys((*wanted_keys(), *keys))), shelf_problems=())


def remove(key: str) -> None:
    """Takes a tokenizer off the shelf; a file stays where it is kept, for links that lead to it."""
    left = tuple(other for other in wanted_keys() if other != key)
    workspace.update(shelf=left, shelf_problems=())


def add_files(files: Sequence[Upload], pretokenizer: str | None) -> bool:
    """Opens uploads, keeps them and puts what they are on the shelf; true where all went well.

    What can't be opened is said, is not kept, and changes nothing of what is there. Two may have
    one name; of those that encode alike one is enough.
    """
    known = {found.encoder.fingerprint for found in _files_on_shelf()}
    keys: list[str] = []
    problems: list[str] = []
    for group in file_groups(files):
        try:
            opened = open_encoder(group, pretokenizer=pretokenizer)
            if opened.encoder.fingerprint not in known:
                with counted_as_kept(sum(map(len, group.values()))):
                    keys.append(_FILE + keep_tokenizer(group, pretokenizer, opened))
        except BpeError as error:
            problems.append(f"{', '.join(group)}: {error}")
            continue
        known.add(opened.encoder.fingerprint)
    add(keys)
    workspace.update(shelf_problems=tuple(problems))
    return not problems


def file_groups(files: Sequence[Upload]) -> list[dict[str, bytes]]:
    """Uploads as tokenizers: a vocabulary and its merges are one, every other file is one.

    >>> [list(group) for group in file_groups([("vocab.json", b"{}"), ("merges.txt", b"a b")])]
    [['vocab.json', 'merges.txt']]
    >>> [list(group) for group in file_groups([("tokenizer.json", b"{}"), ("tokenizer.json", b"")])]
    [['tokenizer.json'], ['tokenizer.json']]
    """
    vocabularies = [file for file in files if file[0].endswith(("vocab.json", "encoder.json"))]
    merges = [file for file in files if file[0].endswith(("merges.txt", "vocab.bpe"))]
    pairs = list(zip(vocabularies, merges, strict=False))
    paired = [file for pair in pairs for file in pair]
    return [
        *map(dict, pairs),
        *({name: data} for name, data in files if (name, data) not in paired),
    ]


def run_key(run_id: str) -> str:
    """The key of another run's tokenizer."""
    return _RUN + run_id


def distinct(names: Sequence[str]) -> list[str]:
    """Names in one line, cut where long, with a number where one came before.

    >>> distinct(["Yours", "tokenizer.json", "tokenizer.json"])
    ['Yours', 'tokenizer.json', 'tokenizer.json (2)']
    """
    found: list[str] = []
    for name in names:
        short = plain_text(name, _LONGEST_NAME)
        number, unlike = 1, short
        while unlike in found:
            number += 1
            unlike = f"{short} ({number})"
        found.append(unlike)
    return found


def _keys_of_address() -> tuple[str, ...]:
    text = frame.query_text("with", _LONGEST_ADDRESS)
    if text == _NOTHING:
        return ()
    known = [key for key in (text or "").split(",") if _KNOWN_KEY.fullmatch(key)]
    return tuple(dict.fromkeys(known)) or FIRST_SHELF


def _files_on_shelf() -> list[NamedEncoder]:
    found: list[NamedEncoder] = []
    for key in wanted_keys():
        if key.startswith(_FILE):
            # What is gone is said where the shelf is drawn.
            with suppress(BpeError):
                found.append(load_tokenizer(key.removeprefix(_FILE)))
    return found


def _member(key: str) -> Member:
    if key == GPT2:
        return Member(key, "GPT-2", gpt2(), "OpenAI’s files, to the byte")
    if key in PUBLISHED:
        name, encoding = PUBLISHED[key]
        with st.spinner(f"Getting {name}’s tokenizer"):
            return Member(key, name, published_tokenizer(encoding), f"{encoding}, OpenAI’s file")
    if key.startswith(_FILE):
        named = load_tokenizer(key.removeprefix(_FILE))
        return Member(key, named.name, named.encoder, named.provenance)
    stored = load_run(key.removeprefix(_RUN))
    return Member(key, stored.title, stored.run.tokenizer, "Another run")
