"""JSON files of a run's folder, read as values of declared types.

They hold its name, where its corpus came from, the corpus if it is small, the beginning of the text
it was trained on, a check on folders, and the tokenizer that it extends. Large ones are packed with
gzip; all are checked against the folder's manifest.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from bpe_core.adapting import DEFAULT_COVERAGE
from bpe_core.corpus import Corpus, HeldOut, Place
from bpe_core.errors import BpeError, FormatError
from bpe_core.files import (
    ARRAY_DAMAGE,
    NAME,
    read_checked,
    read_regular,
    refused_as_not_permitted,
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


Value = TypeVar("Value")


class StoredCorpus(msgspec.Struct, frozen=True):
    """A corpus without the notes and encodings of its files; earlier versions stored less."""

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


def write_packed(path: Path, value: object) -> None:
    """Write a value as packed JSON; raises OSError."""
    # Without a timestamp, so that the same value makes the same file.
    path.write_bytes(gzip.compress(msgspec.json.encode(value), mtime=0))


def read_packed(folder: Path, name: str, type: type[Value]) -> Value:
    """Return the value of a file of a run's folder; call it within `named_damage`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, named_damage("The word"):
    ...     write_packed(Path(folder, "word.json.gz"), {"hug": 3})
    ...     read_packed(Path(folder), "word.json.gz", dict[str, int])
    {'hug': 3}
    """
    return msgspec.json.decode(gzip.decompress(read_checked(folder, name)), type=type)


@contextmanager
def named_damage(what: str) -> Generator[None]:
    """Raise a FormatError for a damaged file, and a NotPermittedError for another user's.

    Covers the reading of the file and the use of its value. `what` begins the message.

    >>> with named_damage("The corpus kept with this run"):
    ...     {}["origin"]
    Traceback (most recent call last):
    bpe_core.errors.FormatError: The corpus kept with this run is damaged.
    """
    with refused_as_not_permitted(what):
        try:
            yield
        except PermissionError:
            raise
        except (*ARRAY_DAMAGE, RecursionError, zlib.error, BpeError) as error:
            raise FormatError(f"{what} is damaged.") from error


_CHECK_FILE = "by_folder.json.gz"


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """A tokenizer trained with a run's settings while whole folders were held out."""

    tokenizer: Tokenizer
    held_out: Corpus
    """The documents of those folders."""


class _StoredCheck(StoredCorpus, frozen=True, kw_only=True):
    tokenizer: dict[str, Any]


def write_folder_check(folder: Path, check: FolderCheck) -> None:
    """Write a check into the folder of its run; raises OSError."""
    tokenizer = tokenizer_to_dict(check.tokenizer)
    write_packed(
        folder / _CHECK_FILE, _StoredCheck(tokenizer=tokenizer, **corpus_fields(check.held_out))
    )


def read_folder_check(folder: Path) -> FolderCheck | None:
    """Return the check that is stored with a run, or None; raises FormatError if it is damaged."""
    with named_damage("The check on held-out folders"):
        if not (folder / _CHECK_FILE).is_file():
            return None
        stored = read_packed(folder, _CHECK_FILE, _StoredCheck)
        # Earlier versions stored no places: these are whole documents.
        places = stored.places or (Place(0, 1),) * len(stored.documents)
        held_out = msgspec.structs.replace(stored, places=places).corpus()
        return FolderCheck(tokenizer_from_dict(stored.tokenizer), held_out)


_ORIGIN_FILE = "corpus.json.gz"
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


class _StoredOrigin(msgspec.Struct):
    origin: CorpusOrigin
    n_bytes: int
    sha256: str
    corpus: StoredCorpus | None


def write_run_corpus(folder: Path, origin: CorpusOrigin, corpus: Corpus) -> None:
    """Store the origin of a corpus, and the corpus if it is small and not a sample."""
    words = corpus.word_counts
    n_characters = corpus.n_characters if words is None else sum(map(len, words))
    is_stored = (
        origin.source != "sample"
        and n_characters <= MAX_CHARACTERS_KEPT
        # Its words alone would be another corpus.
        and not corpus.is_counted
    )
    stored = StoredCorpus(**corpus_fields(corpus)) if is_stored else None
    write_packed(
        folder / _ORIGIN_FILE, _StoredOrigin(origin, corpus.n_bytes, corpus.sha256, stored)
    )


def read_run_corpus(folder: Path) -> RunCorpus | None:
    """Return what is stored of a run's corpus; None for a run of an earlier version.

    Raises FormatError if the file is damaged or holds another corpus than it names, and
    NotPermittedError if it belongs to another user.
    """
    with named_damage("The corpus kept with this run"):
        if not (folder / _ORIGIN_FILE).is_file():
            return None
        kept = read_packed(folder, _ORIGIN_FILE, _StoredOrigin)
        check_held_out_by(kept.origin.held_out_by)
        corpus = None if kept.corpus is None else kept.corpus.corpus()
    if corpus is not None and corpus.sha256 != kept.sha256:
        raise FormatError("The corpus kept with this run is not the one it was trained on.")
    return RunCorpus(kept.origin, kept.n_bytes, kept.sha256, corpus)


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


_TEXT_FILE = "training_text.json.gz"
# More than is searched, so that the end of the stored part is never mistaken for the text's end.
MAX_KEPT = MAX_SEARCHED + 2_000
"""The number of characters stored."""


@dataclass(frozen=True, slots=True)
class TrainingText:
    """The documents of a training text, or the first of them."""

    corpus: Corpus
    is_whole: bool
    """False if only the beginning of the text is stored."""


class _StoredText(StoredCorpus, frozen=True, kw_only=True):
    is_whole: bool


def write_training_text(folder: Path, training: Corpus) -> None:
    """Store the first MAX_KEPT characters; store no text for weighted words."""
    documents: list[str] = []
    room = MAX_KEPT
    for document in training.documents:
        if room <= 0:
            break
        documents.append(document[:room])
        room -= len(document)
    n = len(documents)
    kept = _StoredText(
        documents=tuple(documents),
        names=training.names[:n],
        places=training.places[:n],
        is_whole=room >= 0 and n == len(training.documents),
    )
    write_packed(folder / _TEXT_FILE, kept)


def read_training_text(folder: Path, sha256: str) -> TrainingText | None:
    """Return the text stored in a run's folder, or None, as in older runs.

    `sha256` is the digest of the training text. Raises FormatError if the file is damaged or holds
    another text, and NotPermittedError if it belongs to another user.
    """
    with named_damage("The training text kept with this run"):
        if not (folder / _TEXT_FILE).is_file():
            return None
        kept = read_packed(folder, _TEXT_FILE, _StoredText)
        corpus = kept.corpus()
    if kept.is_whole and corpus.documents and corpus.sha256 != sha256:
        raise FormatError("The text kept with this run is not the one it was trained on.")
    return TrainingText(corpus, kept.is_whole)
