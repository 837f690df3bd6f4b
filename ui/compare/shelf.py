"""The tokenizers that Compare sets side by side: the run's own, and what is on the shelf with it.

What is on the shelf goes by keys: "gpt2", "gpt4", "gpt4o", "run-ID" and "file-FINGERPRINT". All but
the files are in the address, so that a link brings them along.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.encoders import Encoder, NamedEncoder
from bpe_core.errors import BpeError
from bpe_core.formats.opening import open_encoder
from bpe_core.gpt2 import gpt2
from bpe_core.published import PublishedName, published_tokenizer
from bpe_core.tokenizer import Tokenizer
from ui import frame, workspace
from ui.labels import plain_text
from ui.run_store import StoredRun, load_run

MOST_ON_SHELF: Final = 7
"""Besides one's own: more could not be told apart by colour, nor read side by side."""
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
_KNOWN_KEY = re.compile(r"gpt2|gpt4|gpt4o|run-sample|run-[0-9a-f]{32}")
_LONGEST_NAME = 40

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
    files = {file_key(named): named for named in here.shelf_files}
    found = [Member(OWN, "Yours", stored.run.tokenizer, stored.title)]
    problems: list[str] = []
    kept: list[str] = []
    for key in wanted:
        try:
            member = _member(key, files)
        except BpeError as error:
            problems.append(str(error))
            continue
        kept.append(key)
        if key != _RUN + stored.id:
            found.append(member)
    if problems:
        workspace.update(shelf=tuple(kept), shelf_problems=(*here.shelf_problems, *problems))
    in_address = [key for key in kept if not key.startswith(_FILE)]
    is_first = tuple(in_address) == FIRST_SHELF
    frame.set_query(**{"with": None if is_first else ",".join(in_address) or _NOTHING})
    names = distinct([member.name for member in found])
    return tuple(
        Member(member.key, name, member.encoder, member.note)
        for member, name in zip(found, names, strict=True)
    )


def add(keys: Iterable[str]) -> None:
    """Puts tokenizers on the shelf, once each; says so where it is full."""
    shelf = list(wanted_keys())
    problems: list[str] = []
    for key in keys:
        if key in shelf:
            continue
        if len(shelf) >= MOST_ON_SHELF:
            problems = [f"{MOST_ON_SHELF + 1} tokenizers are compared already: remove one first."]
            break
        shelf.append(key)
    workspace.update(shelf=tuple(shelf), shelf_problems=tuple(problems))


def remove(key: str) -> None:
    """Takes a tokenizer off the shelf, and a file's out of memory."""
    here = workspace.current()
    workspace.update(
        shelf=tuple(other for other in here.shelf or () if other != key),
        shelf_files=tuple(named for named in here.shelf_files if file_key(named) != key),
        shelf_problems=(),
    )


def add_files(files: Sequence[Upload], pretokenizer: str | None) -> bool:
    """Opens uploads and puts what they are on the shelf; true where all could be opened.

    What can't be opened is said, and changes nothing of what is there. Two may have one name.
    """
    opened: list[NamedEncoder] = []
    problems: list[str] = []
    for group in file_groups(files):
        try:
            opened.append(open_encoder(group, pretokenizer=pretokenizer))
        except BpeError as error:
            problems.append(f"{', '.join(group)}: {error}")
    here = workspace.current()
    keys = [file_key(named) for named in opened]
    free = MOST_ON_SHELF - len({*wanted_keys(), *keys})
    if free < 0:
        opened, keys = opened[:free], keys[:free]
    others = [named for named in here.shelf_files if file_key(named) not in keys]
    workspace.update(shelf_files=(*others, *opened))
    add(keys)
    if free < 0:
        problems.append(f"{MOST_ON_SHELF + 1} tokenizers are compared already: remove one first.")
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


def file_key(named: NamedEncoder) -> str:
    """The key of a tokenizer that came in a file: the same for all that encode alike."""
    return _FILE + named.encoder.fingerprint[:24]


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
    text = frame.query_text("with")
    if text == _NOTHING:
        return ()
    known = [key for key in (text or "").split(",") if _KNOWN_KEY.fullmatch(key)]
    return tuple(dict.fromkeys(known))[:MOST_ON_SHELF] or FIRST_SHELF


def _member(key: str, files: Mapping[str, NamedEncoder]) -> Member:
    if key == GPT2:
        return Member(key, "GPT-2", gpt2(), "OpenAI’s files, to the byte")
    if key in PUBLISHED:
        name, encoding = PUBLISHED[key]
        with st.spinner(f"Getting {name}’s tokenizer"):
            return Member(key, name, published_tokenizer(encoding), f"{encoding}, OpenAI’s file")
    if key in files:
        return Member(key, files[key].name, files[key].encoder, files[key].provenance)
    stored = load_run(key.removeprefix(_RUN))
    return Member(key, stored.title, stored.run.tokenizer, "Another run of yours")
