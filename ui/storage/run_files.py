"""What is stored of a run next to its training, as values of declared types.

A run's folder has its entry, one packed file: the held-out text, where the corpus came from, the
corpus if it is small, the beginning of the text that was trained on, and a check on folders. Its
name is a file of its own, which is read for lists and can be replaced. Both are checked against the
folder's manifest.
"""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from bpe_core.adapting import DEFAULT_COVERAGE
from bpe_core.corpus import Composition, Corpus, HeldOut, Place
from bpe_core.errors import BpeError, FormatError
from bpe_core.files import (
    ARRAY_DAMAGE,
    NAME,
    read_checked,
    read_regular,
    replace_file,
)
from bpe_core.formats import dumps, loads, read_config, tokenizer_from_dict, tokenizer_to_dict
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import MAX_SEARCHED
from ui.look import RunName
from ui.storage.upload_store import check_held_out_by

_BASE_FILE: Final = "base.bpe.json"


@dataclass(frozen=True, slots=True)
class BaseName:
    """What a visitor calls the tokenizer that a run extends."""

    key: str
    """Its key on the shelf, as in `ui.tokenizers.shelf`; or "run-" and the id of a run."""
    name: str
    """May be user input."""


@dataclass(frozen=True, slots=True)
class Extension:
    """How a training extends a tokenizer."""

    base: BaseName
    n_tokens: int
    """The number of tokens to add."""
    terms: tuple[str, ...] = ()
    """The terms to make tokens before others are learned; user input."""
    pinned: tuple[str, ...] = ()
    """The bytes of tokens that are tried after the terms, in hexadecimal."""
    left_out: tuple[str, ...] = ()
    """The bytes of tokens that are not to be made, in hexadecimal."""
    character_coverage: float = DEFAULT_COVERAGE
    """The share of the text whose characters a base that spells them in bytes gets first."""

    def tried_first(self) -> list[str | bytes]:
        """Return the terms and the pinned tokens, as `extend` takes them."""
        return [*self.terms, *map(bytes.fromhex, self.pinned)]

    def excluded(self) -> list[bytes]:
        """Return the bytes of the tokens that are left out, as `extend` takes them."""
        return list(map(bytes.fromhex, self.left_out))


def extended_title(base: BaseName, text: str) -> str:
    """Return the title of a run that extends a base for a text with this title.

    >>> extended_title(BaseName("gpt2", "GPT-2"), "ships.txt")
    'GPT-2 + ships.txt'
    """
    return f"{base.name} + {text}"


def text_title(base: BaseName | None, title: str) -> str:
    """Return the title of the text that a run with this title and base was trained on.

    >>> text_title(BaseName("gpt2", "GPT-2"), "GPT-2 + ships.txt")
    'ships.txt'
    >>> text_title(None, "GPT-2 + ships.txt")
    'GPT-2 + ships.txt'
    """
    return title if base is None else title.removeprefix(extended_title(base, ""))


def write_base(folder: Path, tokenizer: Tokenizer) -> None:
    """Write the tokenizer that a process extends or reduces into its folder."""
    (folder / _BASE_FILE).write_bytes(next(iter(dumps(tokenizer, "native").values())))


def read_base(folder: Path) -> Tokenizer:
    """Read it again. Raises FormatError if it is damaged or missing."""
    try:
        data = read_regular(folder / _BASE_FILE)
    except OSError as error:
        raise FormatError("The tokenizer to work on is missing.") from error
    return loads({_BASE_FILE: data})


ENTRY: Final = "entry.json.gz"
ENTRY_DAMAGE: Final = (*ARRAY_DAMAGE, RecursionError, zlib.error, BpeError)
"""What reading a damaged entry raises, and using its values."""


class EarlierFormatError(BpeError):
    """A folder has no entry: earlier versions stored it as several files."""


class Compositions(NamedTuple):
    """The compositions of both texts; None for held-out text if there is none."""

    training: Composition
    held_out: Composition | None


class StoredCorpus(msgspec.Struct, frozen=True):
    """A corpus without the notes and encodings of its files."""

    documents: tuple[str, ...]
    names: tuple[str, ...]
    word_counts: dict[str, int] | None = None
    places: tuple[Place, ...] = ()
    units: tuple[int, ...] = ()
    columns: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict[str, "tuple[str, ...]"]
    )
    how: HeldOut | None = None

    def corpus(self) -> Corpus:
        """Return the corpus; raises ValueError or BpeError if its fields do not fit together."""
        if self.places and len(self.places) != len(self.documents):
            raise ValueError(f"Expected {len(self.documents)} places, got {len(self.places)}.")
        return Corpus(**{name: getattr(self, name) for name in StoredCorpus.__struct_fields__})


def corpus_fields(corpus: Corpus) -> dict[str, Any]:
    """Return a corpus as the fields of a StoredCorpus.

    >>> StoredCorpus(**corpus_fields(Corpus.from_text("hug"))).corpus().documents
    ('hug',)
    """
    words = corpus.word_counts
    return {
        "documents": tuple(corpus.documents),
        "names": corpus.names,
        "word_counts": None if words is None else dict(words),
        "places": corpus.places,
        "units": corpus.units,
        "columns": dict(corpus.columns),
        "how": corpus.how,
    }


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """A tokenizer trained with a run's settings while whole folders were held out."""

    tokenizer: Tokenizer
    held_out: Corpus
    """The documents of those folders."""


MAX_CHARACTERS_KEPT = 2_000_000
Source = Literal["sample", "upload", "paste", "words"]


@dataclass(frozen=True, slots=True)
class CorpusOrigin:
    """Where a corpus came from, and how much of it is held out."""

    source: Source
    sample_id: str
    """Empty unless the source is a sample."""
    held_out_percent: Annotated[int, msgspec.Meta(ge=0, lt=100)]
    upload_id: str = ""
    """What an uploaded corpus or a long pasted text is kept under in the store; empty if it is
    not."""
    held_out_by: str | None = None
    """As `divide` in `upload_store` takes it."""


@dataclass(frozen=True, slots=True)
class RunCorpus:
    """The corpus that a run was trained on and held text back from."""

    origin: CorpusOrigin
    n_bytes: int
    sha256: str
    corpus: Corpus | None
    """None if it is a sample or was too large to be stored."""

    @classmethod
    def of(cls, origin: CorpusOrigin, corpus: Corpus) -> RunCorpus:
        """Return what is stored: the corpus too if it is small and not a sample."""
        words = corpus.word_counts
        n_characters = corpus.n_characters if words is None else sum(map(len, words))
        is_stored = (
            origin.source != "sample"
            and n_characters <= MAX_CHARACTERS_KEPT
            # Its words alone would be another corpus.
            and not corpus.is_counted
        )
        return cls(origin, corpus.n_bytes, corpus.sha256, corpus if is_stored else None)


# More than is searched, so that the end of the stored part is never mistaken for the text's end.
MAX_KEPT = MAX_SEARCHED + 2_000
"""The number of characters stored."""


@dataclass(frozen=True, slots=True)
class TrainingText:
    """The documents of a training text, or the first of them; none for weighted words."""

    corpus: Corpus
    is_whole: bool
    """False if only the beginning of the text is stored."""

    @classmethod
    def of(cls, training: Corpus) -> TrainingText:
        """Return the first MAX_KEPT characters."""
        documents: list[str] = []
        room = MAX_KEPT
        for document in training.documents:
            if room <= 0:
                break
            documents.append(document[:room])
            room -= len(document)
        n = len(documents)
        kept = Corpus(tuple(documents), training.names[:n], places=training.places[:n])
        return cls(kept, is_whole=room >= 0 and n == len(training.documents))


class _StoredOrigin(msgspec.Struct, frozen=True):
    origin: CorpusOrigin
    n_bytes: int
    sha256: str
    corpus: StoredCorpus | None


class _StoredText(StoredCorpus, frozen=True, kw_only=True):
    is_whole: bool


class _StoredCheck(StoredCorpus, frozen=True, kw_only=True):
    tokenizer: dict[str, Any]


class StoredEntry(msgspec.Struct, frozen=True):
    """A run's entry as it is written; its methods return the parts, or raise what is damaged."""

    title: str
    """Its first; a run that was renamed has another in the file of its name."""
    held_out: StoredCorpus
    trained_at: datetime | None = None
    compositions: Compositions | None = None
    newness: tuple[float | None, float | None] | None = None
    """None stands for nan, which JSON cannot hold."""
    base: BaseName | None = None
    origin: _StoredOrigin | None = None
    text: _StoredText | None = None
    check: _StoredCheck | None = None

    def came_from(self) -> RunCorpus | None:
        """Return the corpus that the run was trained on."""
        if (kept := self.origin) is None:
            return None
        check_held_out_by(kept.origin.held_out_by)
        corpus = None if kept.corpus is None else kept.corpus.corpus()
        if corpus is not None and corpus.sha256 != kept.sha256:
            raise FormatError("The corpus kept with this run is not the one it was trained on.")
        return RunCorpus(kept.origin, kept.n_bytes, kept.sha256, corpus)

    def training_text(self, sha256: str) -> TrainingText | None:
        """Return the beginning of the text with this digest, which the run was trained on."""
        if self.text is None:
            return None
        corpus = self.text.corpus()
        if self.text.is_whole and corpus.documents and corpus.sha256 != sha256:
            raise FormatError("The text kept with this run is not the one it was trained on.")
        return TrainingText(corpus, self.text.is_whole)

    def by_folder(self) -> FolderCheck | None:
        """Return the check on folders that training never saw."""
        if self.check is None:
            return None
        return FolderCheck(tokenizer_from_dict(self.check.tokenizer), self.check.corpus())


def stored_origin(kept: RunCorpus | None) -> _StoredOrigin | None:
    """Return a run's corpus as its entry holds it."""
    if kept is None:
        return None
    corpus = None if kept.corpus is None else StoredCorpus(**corpus_fields(kept.corpus))
    return _StoredOrigin(kept.origin, kept.n_bytes, kept.sha256, corpus)


def stored_text(kept: TrainingText | None) -> _StoredText | None:
    """Return a training text as an entry holds it."""
    if kept is None:
        return None
    return _StoredText(**corpus_fields(kept.corpus), is_whole=kept.is_whole)


def stored_check(check: FolderCheck | None) -> _StoredCheck | None:
    """Return a check on folders as an entry holds it."""
    if check is None:
        return None
    return _StoredCheck(
        **corpus_fields(check.held_out), tokenizer=tokenizer_to_dict(check.tokenizer)
    )


def write_entry(folder: Path, entry: StoredEntry) -> None:
    """Write the entry of a run into its folder; raises OSError."""
    # Without a timestamp, so that the same entry makes the same file.
    (folder / ENTRY).write_bytes(gzip.compress(msgspec.json.encode(entry), mtime=0))


def read_entry(folder: Path) -> StoredEntry:
    """Return the entry in a run's folder; raises EarlierFormatError, or one of ENTRY_DAMAGE.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_entry(Path(folder), StoredEntry("Hugs", StoredCorpus(("hug",), ("",))))
    ...     read_entry(Path(folder)).held_out.documents
    ('hug',)
    """
    if not os.path.lexists(folder / ENTRY):
        raise EarlierFormatError
    return msgspec.json.decode(gzip.decompress(read_checked(folder, ENTRY)), type=StoredEntry)


class _StoredName(msgspec.Struct):
    title: str
    vocab_size: int
    config: dict[str, Any]
    trained_at: datetime | None


def write_run_name(folder: Path, name: RunName) -> None:
    """Write a run's name into its folder, in place of another if it has one; raises OSError."""
    stored = _StoredName(name.title, name.vocab_size, asdict(name.config), name.trained_at)
    data = msgspec.json.encode(stored)
    if (folder / NAME).is_file():
        replace_file(folder, NAME, data)
    else:
        (folder / NAME).write_bytes(data)


def read_run_name(folder: Path) -> RunName | None:
    """Return a run's name; None if its file is missing or damaged. The run also contains it.

    Raises PermissionError.
    """
    try:
        found = msgspec.json.decode(read_checked(folder, NAME), type=_StoredName)
        config = read_config(found.config)
        time = None if found.trained_at is None else found.trained_at.astimezone(UTC)
    except PermissionError:
        raise
    except (OSError, ValueError, OverflowError, RecursionError, BpeError):
        return None
    return RunName(folder.name, found.title, found.vocab_size, config, time)
