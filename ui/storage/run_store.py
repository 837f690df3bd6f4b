"""Store finished runs on disk, each in a folder named by an unguessable id.

Next to its training, a run's folder has its entry, one packed file of declared types: the held-out
text, where the corpus came from, the corpus if it is small, the beginning of the text that was
trained on, and a check on folders. Its name is a file of its own, which is read for lists and can
be replaced. Both are checked against the folder's manifest.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple
from weakref import WeakValueDictionary

import msgspec
import numpy as np
from numpy.typing import NDArray

from bpe_core.adapting import DEFAULT_COVERAGE
from bpe_core.comparison import Newness
from bpe_core.corpus import Composition, Corpus, HeldOut, Place
from bpe_core.errors import BpeError, FormatError, NewerFormatError, NotKeptError
from bpe_core.files import ARRAY_DAMAGE, Entry, Store, open_regular, read_regular, write_whole
from bpe_core.formats import (
    dumps,
    loads,
    read_config,
    run_archive,
    tokenizer_from_dict,
    tokenizer_to_dict,
)
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import TrainingRun
from bpe_core.vocabulary import SourceLines
from ui.host import cached, server_cache
from ui.look import RunName
from ui.storage.keeping import kept_folder, new_folder, os_errors_as_not_kept
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
MAX_KEPT = SourceLines.MAX_SEARCHED + 2_000
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
    """Return the entry in a run's folder; raises one of ENTRY_DAMAGE.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_entry(Path(folder), StoredEntry("Hugs", StoredCorpus(("hug",), ("",))))
    ...     read_entry(Path(folder)).held_out.documents
    ('hug',)
    """
    return msgspec.json.decode(gzip.decompress(Entry(folder).read(ENTRY)), type=StoredEntry)


class _StoredName(msgspec.Struct):
    title: str
    vocab_size: int
    config: dict[str, Any]
    trained_at: datetime | None


def write_run_name(folder: Path, name: RunName) -> None:
    """Write a run's name into its folder, in place of another if it has one; raises OSError."""
    stored = _StoredName(name.title, name.vocab_size, name.config.to_dict(), name.trained_at)
    data = msgspec.json.encode(stored)
    if (folder / Entry.NAME).is_file():
        Entry(folder).replace(Entry.NAME, data)
    else:
        (folder / Entry.NAME).write_bytes(data)


def read_run_name(folder: Path) -> RunName | None:
    """Return a run's name; None if its file is missing or damaged. The run also contains it.

    Raises PermissionError.
    """
    try:
        found = msgspec.json.decode(Entry(folder).read(Entry.NAME), type=_StoredName)
        config = read_config(found.config)
        time = None if found.trained_at is None else found.trained_at.astimezone(UTC)
    except PermissionError:
        raise
    except (OSError, ValueError, OverflowError, RecursionError, BpeError):
        return None
    return RunName(folder.name, found.title, found.vocab_size, config, time)


SAMPLE_RUN_ID = "sample"
SAMPLE_FOLDER = Path(__file__).parents[1] / "data" / "sample_run"
_HELD_OUT_TOKENS = "held_out_tokens_after.npy"
MAX_UNCLAIMED: Final = 16
"""The number of unsaved runs kept in memory even if no session refers to them. A run on 10 MB of
text takes about 3 MB, one on 200 MB about 30 MB."""
_in_memory: WeakValueDictionary[str, StoredRun] = WeakValueDictionary()
"""Unsaved runs, for as long as a visitor's workspace or `_unclaimed` refers to them."""
_unclaimed: deque[StoredRun] = deque(maxlen=MAX_UNCLAIMED)
_just_trained: deque[StoredRun] = deque(maxlen=1)
"""The run stored last, so that its visitor does not wait until it is read again."""
_MAX_FILES = 100


class RunNotFoundError(BpeError):
    """No run has this id."""


class RunDeletedError(RunNotFoundError):
    """The visitor who trained the run with this id deleted it."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training leaves."""

    title: str
    """The name of the training text, such as "Python's built-in help"; may be user input."""
    run: TrainingRun
    held_out: Corpus
    """The held-out text; may be empty (n_bytes == 0)."""
    training: Corpus | None = None
    """The training text, of which the beginning is stored."""
    came_from: tuple[CorpusOrigin, Corpus] | None = None
    """The whole corpus, which is stored if it is small, and where it came from."""
    base: BaseName | None = None
    """What the tokenizer that the run extends is called; None for a run from scratch."""
    newness: Newness | None = None
    """How new the held-out text is."""
    by_folder: FolderCheck | None = None
    """The same settings on folders that training never saw, if that was measured."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StoredRun:
    """A finished run with everything the pages show with it."""

    id: str
    title: str
    """The name of the training text, such as "Python's built-in help"; may be user input."""
    run: TrainingRun
    held_out: Corpus
    """The held-out text; may be empty (n_bytes == 0)."""
    held_out_tokens_after: NDArray[np.int64] | None
    """int64[n_merges + 1]: the held-out text's number of tokens after each merge; None if the text
    is empty or counting was cancelled."""
    trained_at: datetime | None = None
    """When it was stored; None for the sample."""
    compositions: Compositions | None = None
    """What the training text and the held-out text consist of."""
    base: BaseName | None = None
    """What the tokenizer that the run extends is called; None for a run from scratch."""
    newness: Newness | None = None
    """How new the held-out text is; None if that was not measured."""
    came_from: RunCorpus | None = None
    """The corpus, if it is small, and where it came from."""
    training_text: TrainingText | None = None
    """The beginning of the training text."""
    by_folder: FolderCheck | None = None
    """The same settings on folders that training never saw; None if that was not measured."""
    not_kept: str = ""
    """Why the run is in memory only, as a sentence for the visitor; empty if it is on disk."""

    @property
    def name(self) -> RunName:
        """The name that distinguishes it from other runs."""
        run = self.run
        return RunName(self.id, self.title, run.tokenizer.vocab_size, run.config, self.trained_at)


def store_run(
    trained: Trained,
    *,
    run_id: str | None = None,
    should_stop: Callable[[], bool] | None = None,
    is_shown_next: bool = False,
) -> str:
    """Write a run to the store, completely or not at all, and return its id: a new one if None.

    Once `should_stop()` returns True, the held-out text is stored without its token counts. If the
    disk is full or read-only, the run stays in memory, so that no training is lost: it is kept
    while it is among the latest `MAX_UNCLAIMED` of its kind, and then for as long as its visitor's
    workspace refers to it.

    `load_run` reads a run from the disk; the latest one with `is_shown_next` it returns as it is,
    because reading 500,000 merges takes 15 seconds.
    """
    run_id = run_id or Entry.new_id()
    stored = _finished(run_id, trained, datetime.now(UTC), should_stop)
    try:
        with kept_folder(run_id) as folder:
            _write(folder, stored)
    except NotKeptError as error:
        unkept = replace(stored, not_kept=str(error))
        _in_memory[run_id] = unkept
        _unclaimed.append(unkept)
    if is_shown_next:
        _just_trained.append(stored)
    return run_id


store_run_to_show = partial(store_run, is_shown_next=True)
"""Stores a run that is shown next."""


def write_run(folder: Path, trained: Trained) -> None:
    """Write a run as a new folder, which appears only once it is complete."""
    stored = _finished(folder.name, trained, None, None)
    with new_folder(folder) as unfinished:
        _write(unfinished, stored)


def _finished(
    run_id: str,
    trained: Trained,
    trained_at: datetime | None,
    should_stop: Callable[[], bool] | None,
) -> StoredRun:
    """Return a run with what is shown of it; count the tokens of the held-out text."""
    run, held_out = trained.run, trained.held_out
    tokens_after = None
    if held_out.n_bytes:
        with suppress(CancelledError):
            tokens_after = run.tokens_after_on(held_out, should_stop)
    return StoredRun(
        id=run_id,
        title=trained.title,
        run=run,
        held_out=held_out,
        held_out_tokens_after=tokens_after,
        trained_at=trained_at,
        compositions=compose_both(trained.training, held_out),
        base=trained.base,
        newness=trained.newness,
        came_from=None if trained.came_from is None else RunCorpus.of(*trained.came_from),
        training_text=None if trained.training is None else TrainingText.of(trained.training),
        by_folder=trained.by_folder,
    )


def is_stored(run_id: str) -> bool:
    """Return whether a run is in the store, or in memory because it could not be written.

    >>> is_stored("../secret")
    False
    """
    if not Entry.is_id(run_id):
        return False
    return in_memory_run(run_id) is not None or (Store().folder / run_id / Entry.RUN).is_file()


def note_opened(run_id: str) -> None:
    """Note that a run was opened, so that it is kept for another 90 days."""
    if run_id != SAMPLE_RUN_ID:
        Entry(_find_folder(run_id)).touch()


def find_run_name(run_id: str) -> RunName:
    """Return a run's name, usually without reading the run; raises what `load_run` raises."""
    if (held := in_memory_run(run_id)) is not None:
        return held.name
    folder = _find_folder(run_id)
    with Store.permitted("The run stored at this address"):
        name = read_run_name(folder) if (folder / Entry.RUN).is_file() else None
    return name or load_run(run_id).name


def in_memory_run(run_id: str) -> StoredRun | None:
    """Return a run that could not be stored on disk; None for any other."""
    return _in_memory.get(run_id)


def load_run(run_id: str) -> StoredRun:
    """Return the run stored under an id.

    Raises RunNotFoundError for an unknown or malformed id, FormatError for a damaged run,
    NewerFormatError for one of a newer version, and NotPermittedError for one of another user.
    """
    if (held := in_memory_run(run_id)) is not None:
        return held
    # Another server may have deleted what this one has read.
    _check_is_there(_find_folder(run_id))
    return _loaded(run_id)


def rename_run(run_id: str, title: str) -> None:
    """Give a stored run another name.

    Raises what `load_run` raises, and NotKeptError if it cannot be written.
    """
    folder, name = _find_folder(run_id), load_run(run_id).name
    with os_errors_as_not_kept():
        write_run_name(folder, replace(name, title=title))
    _forget(run_id)


def delete_run(run_id: str) -> None:
    """Delete a stored run; its address says so as long as a run is kept.

    Raises RunNotFoundError if it is no longer there, and NotPermittedError.
    """
    folder = _find_folder(run_id)
    _check_is_there(folder)
    with Store.permitted("The run stored at this address"), os_errors_as_not_kept():
        Entry(folder).delete_for_owner()
    _forget(run_id)


def _forget(run_id: str) -> None:
    """Drop what this server has read of a run, and computed from it."""
    if any(stored.id == run_id for stored in _just_trained):
        _just_trained.clear()
    server_cache.forget(lambda key: isinstance(key, tuple) and run_id in key)


def _check_is_there(folder: Path) -> None:
    with Store.permitted("The run stored at this address"):
        if (folder / Entry.RUN).is_file():
            return
        if Entry(folder).is_deleted_by_owner:
            raise RunDeletedError("This run was deleted by the visitor who trained it.")
    raise RunNotFoundError(
        "There is no run at this address. It may have been deleted, or the address may be "
        "incomplete. Train again, or ask for the complete address."
    )


@cached()
def _loaded(run_id: str) -> StoredRun:
    with Store.permitted("The run stored at this address"):
        return _read(run_id, _find_folder(run_id))


def _read(run_id: str, folder: Path) -> StoredRun:
    _check_is_there(folder)
    for stored in _just_trained:
        if stored.id == run_id:
            _just_trained.clear()
            return stored
    try:
        Entry(folder).check((Entry.RUN, ENTRY, _HELD_OUT_TOKENS))
        entry, name = read_entry(folder), read_run_name(folder)
        run = run_archive.load_run(folder / Entry.RUN)
        return StoredRun(
            id=run_id,
            title=entry.title if name is None else name.title,
            run=run,
            held_out=entry.held_out.corpus(),
            held_out_tokens_after=_held_out_tokens(folder / _HELD_OUT_TOKENS),
            trained_at=None if entry.trained_at is None else entry.trained_at.astimezone(UTC),
            compositions=entry.compositions,
            base=entry.base,
            newness=_newness(entry.newness),
            came_from=entry.came_from(),
            training_text=entry.training_text(run.corpus_sha256),
            by_folder=entry.by_folder(),
        )
    except PermissionError:
        raise
    except NewerFormatError as error:
        raise NewerFormatError(
            "The run stored at this address was stored by a newer version of BPE Explorer. Update "
            "BPE Explorer to open it."
        ) from error
    # The archive's own message names a path on the server, which visitors must not see.
    except ENTRY_DAMAGE as error:
        raise FormatError("The run stored at this address is damaged. Train again.") from error


def _write(folder: Path, stored: StoredRun) -> None:
    write_whole(folder / Entry.RUN, run_archive.run_to_bytes(stored.run))
    write_run_name(folder, stored.name)
    entry = StoredEntry(
        title=stored.title,
        held_out=StoredCorpus(**corpus_fields(stored.held_out)),
        trained_at=stored.trained_at,
        compositions=stored.compositions,
        newness=stored.newness,
        base=stored.base,
        origin=stored_origin(stored.came_from),
        text=stored_text(stored.training_text),
        check=stored_check(stored.by_folder),
    )
    write_entry(folder, entry)
    if stored.held_out_tokens_after is not None:
        np.save(folder / _HELD_OUT_TOKENS, stored.held_out_tokens_after, allow_pickle=False)


def _held_out_tokens(path: Path) -> NDArray[np.int64] | None:
    if not path.is_file():
        return None
    with open_regular(path) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _newness(stored: tuple[float | None, float | None] | None) -> Newness | None:
    if stored is None:
        return None
    unseen, by_folder = stored
    return Newness(math.nan if unseen is None else unseen, by_folder)


def _find_folder(run_id: str) -> Path:
    """Return the folder of a run; raise RunNotFoundError for a malformed id."""
    if run_id == SAMPLE_RUN_ID:
        return SAMPLE_FOLDER
    if not Entry.is_id(run_id):
        raise RunNotFoundError(
            "The run id in this address is malformed: expected 32 digits and letters from a to f. "
            "Copy the complete address."
        )
    return Store().folder / run_id


def compose_both(training: Corpus | None, held_out: Corpus) -> Compositions | None:
    """Return the compositions of both texts, with the largest hundred files of each."""
    if training is None:
        return None
    return Compositions(
        _largest(training.composition()),
        _largest(held_out.composition()) if held_out.n_bytes else None,
    )


def _largest(found: Composition) -> Composition:
    return found._replace(files=found.files[:_MAX_FILES], types=found.types[:_MAX_FILES])
