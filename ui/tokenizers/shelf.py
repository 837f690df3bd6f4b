"""Keep the shelf: the tokenizers that pages offer in addition to the run's own.

Each has a key: a name such as "gpt2" or "hf:org/model@COMMIT", "run-ID" or "file-ID". The keys are
in the address, so the shelf survives a refresh and can be shared by a link, which names the commit
of a model that it showed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from bpe_core.adapting import extendable
from bpe_core.chat import ChatTemplate
from bpe_core.comparison import numbered
from bpe_core.errors import BpeError, ConfigError, FormatError
from bpe_core.formats import CATALOGUE, HubName, build_tokenizer, is_sidecar, read_description
from bpe_core.tokenizer import Encoder, NamedEncoder, Tokenizer, gpt2
from bpe_core.trainers import TrainingRun
from ui.host import cached
from ui.look import plain_text
from ui.shell import counted_as_kept, is_own, workspace
from ui.storage import (
    SAMPLE_RUN_ID,
    BaseName,
    StoredRun,
    keep_tokenizer,
    load_run,
    load_tokenizer,
    open_uploaded,
    tokenizer_files,
)
from ui.tokenizers.by_name import (
    Downloads,
    end_downloads,
    hub_files,
    is_by_name,
    is_here,
    open_by_name,
    pinned,
    read_name,
)

OWN: Final = "own"
YOURS: Final = "Your tokenizer"
EXAMPLE: Final = "The example"
THIS: Final = "This tokenizer"
"""Of a run that the visitor's browser is not known to have trained."""
OWN_NAMES: Final = (YOURS, EXAMPLE, THIS)
GPT2: Final = "gpt2"
FIRST_SHELF: Final = (GPT2,)
GPT2_NOTE: Final = "OpenAI’s files, byte for byte"
_NOTHING = "none"
RUN_PREFIX: Final = "run-"
FILE_PREFIX: Final = "file-"
_STORED_KEY: Final = re.compile("run-sample|(run|file)-[0-9a-f]{32}")
_MAX_NAME_LENGTH = 40
_MAX_BASE_NAME: Final = 60
_INSTEAD: Final = (
    "Adapt another tokenizer, such as GPT-2’s, Llama 3’s or Mistral 7B’s, or train a new one."
)
_MAX_ADDRESS_LENGTH: Final = 8_000
"""About two hundred keys; browsers and servers may refuse a longer address."""

Upload = tuple[str, bytes]
"""An uploaded file: its name, which need not be unique, and its content."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The tokenizers that this session compares with."""

    keys: tuple[str, ...] | None = None
    """None before a page with the shelf is opened."""
    problems: tuple[str, ...] = ()
    """Why tokenizers are no longer on the shelf; empty once it changes."""
    addition_problems: tuple[str, ...] = ()
    """Why files could not be added to the shelf; empty once it changes."""
    files_added: int = 0
    """The number of times that files were added to the shelf."""


@dataclass(frozen=True, slots=True)
class Member:
    """A tokenizer that can be compared."""

    key: str
    """"own" for the run's tokenizer, which cannot be removed."""
    name: str
    """Distinct from the names of the others; may contain a visitor's own words."""
    encoder: Encoder
    note: str
    """Its origin, in a few words or sentences; may contain a visitor's own words."""
    chat: ChatTemplate | None = None


def wanted_keys() -> tuple[str, ...]:
    """Return the keys on the shelf, read from the address until a visitor or a link chose some."""
    keys = workspace.get(Shelf).keys
    if keys is None:
        keys, problems = _read_keys()
        if keys != FIRST_SHELF or problems:
            workspace.update(Shelf, keys=keys, problems=problems)
    return keys


def members(stored: StoredRun) -> tuple[Member, ...]:
    """Return the run's own tokenizer and those on the shelf.

    A tokenizer that cannot be opened is removed from the shelf, and its error is kept for the page.
    One that must be fetched first stays there, for `missing_keys`.
    """
    end_downloads(_replace, _note)
    found = [Member(OWN, own_name(stored), stored.run.tokenizer, stored.title)]
    problems: list[str] = []
    kept: list[str] = []
    for key in wanted_keys():
        try:
            if is_by_name(key):
                if not is_here(key):
                    kept.append(key)
                    continue
                key = pinned(key)
            member = open_member(key)
        except BpeError as error:
            problems.append(str(error))
            continue
        if key != RUN_PREFIX + stored.id and key not in kept:
            found.append(member)
        kept.append(key)
    kept = list(dict.fromkeys(kept))
    if tuple(kept) != wanted_keys():
        workspace.update(Shelf, keys=tuple(kept))
    for problem in problems:
        _note(problem)
    is_first = tuple(kept) == FIRST_SHELF
    workspace.set_query(**{"with": None if is_first else ",".join(kept) or _NOTHING})
    names = distinct([member.name for member in found])
    return tuple(replace(member, name=name) for member, name in zip(found, names, strict=True))


def own_name(stored: StoredRun) -> str:
    """Return the name of a run's own tokenizer, by whose run it is."""
    if stored.id == SAMPLE_RUN_ID:
        return EXAMPLE
    return YOURS if is_own(stored.id) else THIS


def in_sentence(name: str) -> str:
    """Return a tokenizer's name as it stands within a sentence.

    >>> in_sentence("Your tokenizer"), in_sentence("The example"), in_sentence("The Pile")
    ('your tokenizer', 'the example', 'The Pile')
    """
    return name[0].lower() + name[1:] if name in OWN_NAMES else name


def missing_keys() -> tuple[str, ...]:
    """Return the keys on the shelf that must be fetched, and are not being fetched."""
    fetching = workspace.get(Downloads).keys
    names = [key for key in wanted_keys() if is_by_name(key) and key not in fetching]
    return tuple(key for key in names if not is_here(key))


def read_key(text: str) -> str | None:
    """Return the key that a text in an address stands for, or None."""
    if _STORED_KEY.fullmatch(text):
        return text
    try:
        return read_name(text)
    except ConfigError:
        return None


def add(keys: Iterable[str]) -> None:
    """Add tokenizers to the shelf, each at most once."""
    _put_on_shelf(tuple(dict.fromkeys((*wanted_keys(), *keys))))


def remove(key: str) -> None:
    """Remove a tokenizer from the shelf; a stored file stays, since links may name it."""
    left = tuple(other for other in wanted_keys() if other != key)
    _put_on_shelf(left)


def add_files(files: Sequence[Upload], pretokenizer: str | None) -> bool:
    """Open and store uploads, and add them to the shelf; return True if all could be opened.

    The error of an upload that cannot be opened is kept, to be shown next to the button. Uploads
    may share a name. One that encodes exactly like a file on the shelf is not added, or replaces
    it if it has another chat template.
    """
    known = {found.encoder.fingerprint: (key, found.chat) for key, found in _files_on_shelf()}
    keys: list[str] = []
    problems: list[str] = []
    for group in file_groups(files):
        try:
            opened = open_uploaded(group, pretokenizer)
            same, chat = known.get(opened.encoder.fingerprint, ("", None))
            if same and opened.chat in (None, chat):
                continue
            with counted_as_kept(sum(map(len, group.values()))):
                key = FILE_PREFIX + keep_tokenizer(group, pretokenizer, opened)
        except BpeError as error:
            # Nearly all of these errors name the file.
            is_named = any(name in str(error) for name in group)
            problems.append(str(error) if is_named else f"{', '.join(group)}: {error}")
            continue
        known[opened.encoder.fingerprint] = key, opened.chat
        if same:
            remove(same)
        keys = [*(each for each in keys if each != same), key]
    add(keys)
    workspace.update(Shelf, addition_problems=tuple(problems))
    return not problems


def file_groups(files: Sequence[Upload]) -> list[dict[str, bytes]]:
    """Group uploads into tokenizers: a vocabulary with its merges, or a single file.

    The small files that transformers keeps next to a vocabulary go with it, if there is one alone.
    Next to one tokenizer.json, GPT-2's two files only repeat it, as in a folder.

    >>> [list(group) for group in file_groups([("vocab.json", b"{}"), ("merges.txt", b"a b")])]
    [['vocab.json', 'merges.txt']]
    >>> [list(group) for group in file_groups([("tokenizer.json", b"{}"), ("tokenizer.json", b"")])]
    [['tokenizer.json'], ['tokenizer.json']]
    >>> files = [("vocab.json", b"{}"), ("merges.txt", b"a b"), ("tokenizer.json", b"{}")]
    >>> [list(group) for group in file_groups(files)]
    [['tokenizer.json']]
    >>> files = [("added_tokens.json", b"{}"), ("tokenizer.json", b"{}")]
    >>> [list(group) for group in file_groups(files)]
    [['tokenizer.json', 'added_tokens.json']]
    """
    vocabularies = [file for file in files if file[0].endswith(("vocab.json", "encoder.json"))]
    merges = [file for file in files if file[0].endswith(("merges.txt", "vocab.bpe"))]
    pairs = list(zip(vocabularies, merges, strict=False))
    paired = [file for pair in pairs for file in pair]
    beside = [file for file in files if is_sidecar(file[0])]
    single = [file for file in files if file not in paired and file not in beside]
    if [name for name, _ in files].count("tokenizer.json") == 1 and len(pairs) == 1:
        pairs = []
    groups = [*map(dict, pairs), *({name: data} for name, data in single)]
    if len(groups) == 1:
        return [groups[0] | dict(beside)]
    return [*groups, *({name: data} for name, data in beside)]


def trained_run(member: Member, stored: StoredRun) -> TrainingRun | None:
    """Return the run that a tokenizer of the shelf was learned in; None for any other."""
    if member.key == OWN:
        return stored.run
    is_run = member.key.startswith(RUN_PREFIX)
    return load_run(member.key.removeprefix(RUN_PREFIX)).run if is_run else None


def run_key(run_id: str) -> str:
    """Return the key of a run's tokenizer."""
    return RUN_PREFIX + run_id


def opens_by_name(key: str) -> bool:
    """Return True if `bpe.open_encoder` opens what a key stands for.

    >>> opens_by_name("gpt2"), opens_by_name("run-sample")
    (True, False)
    """
    return key == GPT2 or is_by_name(key)


def distinct(names: Sequence[str]) -> list[str]:
    """Return names on one line each, shortened if long, and numbered if repeated.

    >>> distinct(["Your tokenizer", "tokenizer.json", "tokenizer.json"])
    ['Your tokenizer', 'tokenizer.json', 'tokenizer.json (2)']
    """
    return numbered(plain_text(name, _MAX_NAME_LENGTH) for name in names)


def loading_line(member: Member) -> str:
    """Return the line of Python that opens a tokenizer like this one."""
    if member.key == GPT2:
        return "tokenizer = bpe.gpt2()"
    if is_by_name(member.key):
        return f'tokenizer = bpe.open_encoder("{member.key}")'
    if member.key.startswith(FILE_PREFIX):
        return 'tokenizer = bpe.open_encoder("tokenizer.json")'
    return 'tokenizer = bpe.load("tokenizer.json")'


def _put_on_shelf(keys: tuple[str, ...]) -> None:
    workspace.update(Shelf, keys=keys, problems=(), addition_problems=())
    workspace.update(Downloads, failed=())


def _read_keys() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys in the address, and a sentence on each part of it that is not a key."""
    text = workspace.query_text("with", _MAX_ADDRESS_LENGTH)
    if text == _NOTHING:
        return (), ()
    parts = {part: read_key(part) for part in (text or "").split(",") if part}
    problems = tuple(
        f"This address names “{plain_text(part, _MAX_NAME_LENGTH)}”, which is not a tokenizer."
        for part, key in parts.items()
        if key is None
    )
    return tuple(dict.fromkeys(key for key in parts.values() if key)) or FIRST_SHELF, problems


def _replace(key: str, by: str) -> None:
    """Put a tokenizer that was fetched on the shelf, in the place of its key if that is there."""
    keys = [by if other == key else other for other in wanted_keys()]
    workspace.update(Shelf, keys=tuple(dict.fromkeys((*keys, by))))


def _note(problem: str) -> None:
    problems = dict.fromkeys((*workspace.get(Shelf).problems, problem))
    workspace.update(Shelf, problems=tuple(problems))


def _files_on_shelf() -> list[tuple[str, NamedEncoder]]:
    found: list[tuple[str, NamedEncoder]] = []
    for key in wanted_keys():
        if key.startswith(FILE_PREFIX):
            # The error of a missing file is shown where the shelf is drawn.
            with suppress(BpeError):
                found.append((key, load_tokenizer(key.removeprefix(FILE_PREFIX))))
    return found


def open_member(key: str) -> Member:
    """Open a tokenizer by its key; raise BpeError if it cannot be opened."""
    if key == GPT2:
        return Member(key, "GPT-2", gpt2(), GPT2_NOTE)
    if key.startswith(RUN_PREFIX):
        stored = load_run(key.removeprefix(RUN_PREFIX))
        return Member(key, stored.title, stored.run.tokenizer, "Another run")
    by_name = is_by_name(key)
    named = open_by_name(key) if by_name else load_tokenizer(key.removeprefix(FILE_PREFIX))
    return Member(key, named.name, named.encoder, named.provenance, named.chat)


@dataclass(frozen=True, slots=True)
class Base:
    """A tokenizer to adapt."""

    name: BaseName
    encoder: Encoder
    note: str
    """Its origin; may be user input."""

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer; raise BpeError if it cannot be adapted.

        If another library encodes with it, its file is read as pre-tokenizer and merges. Added
        tokens that are found in ordinary text, as DeepSeek's are, count as text then.
        """
        own = self.encoder
        name = plain_text(self.name.name, _MAX_BASE_NAME)
        if own.model == "BPE" and own.merged_by is None:
            found = _read_merges(self.name.key)
            if isinstance(found, str):
                raise FormatError(f"{name} cannot be adapted. {found} {_INSTEAD}")
            own = found
        return extendable(NamedEncoder(name, own, self.note))


@cached(spinner="Reading the merges")
def _read_merges(key: str) -> Tokenizer | str:
    """Return the tokenizer in a file, or why it cannot be read as pre-tokenizer and merges."""
    try:
        read = read_description(stored_files(key))
        return read.why_not if read.merges is None else build_tokenizer(read)
    except BpeError as error:
        return str(error)


def bases_of(stored: StoredRun) -> dict[str, Base]:
    """Return the tokenizers by key: the open run's, the one it extends, and those of the shelf."""
    found: dict[str, Base] = {}
    for member in members(stored):
        key, name = member.key, member.name
        if key == OWN:
            key, name = run_key(stored.id), f"{stored.title} (the open run)"
        found[key] = Base(BaseName(key, name), member.encoder, member.note)
    base = stored.run.given_base
    if stored.base is not None and base is not None:
        found.setdefault(stored.base.key, Base(stored.base, base, "The base of the open run"))
    return found


def stored_files(key: str) -> Mapping[str, bytes]:
    """Return the files kept under a key of the shelf; none for a run or GPT-2.

    Raises BpeError if files are damaged or missing.

    >>> stored_files("gpt2")
    {}
    """
    if key.startswith(FILE_PREFIX):
        return tokenizer_files(key.removeprefix(FILE_PREFIX))
    if HubName.fits(key):
        return hub_files(HubName.parse(key))
    found = CATALOGUE.get(key)
    if key == GPT2 or found is None or found.encoding or found.state == "missing":
        return {}
    return {found.file_name: found.read()}
