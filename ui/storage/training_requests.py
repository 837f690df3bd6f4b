"""Keep on disk what queued and running trainings need, so that they are begun again after a crash.

Each is a folder of the store named `training-` and the id that its run will have. The server that
works on it holds a lock in it, which the system frees even if the server is killed. It is removed
when the training ends. Listing and sweeping leave these folders alone.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import (
    TEXT,
    FiledCorpus,
    link_corpus,
    read_corpus_files,
    write_corpus,
)
from bpe_core.errors import BpeError
from bpe_core.files.file_lock import FileLock
from bpe_core.files.regular_files import NotRegularError, read_regular
from bpe_core.files.store import delete_folder, folder_size, is_id, store_folder
from bpe_core.files.whole_files import write_whole
from bpe_core.formats.run_archive import read_config
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import TrainingConfig
from ui.storage.base_tokenizer import Extension, read_base, write_base
from ui.storage.held_out_text import check_held_out_by
from ui.storage.keeping import make_room, new_folder, os_errors_as_not_kept
from ui.storage.run_files import CorpusOrigin

_PREFIX: Final = "training-"
_REQUEST: Final = "request.json"
_STARTS: Final = "starts"
_LOCK: Final = "lock"
_Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]


class TrainingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to train, apart from the corpus: from scratch, or by extending a tokenizer."""

    version: Literal[2] = 2
    """The version of the file's format."""
    id: str
    """Also the id of the run that it will become."""
    title: str
    """The name of the text; may be user input."""
    config: TrainingConfig | None = None
    extension: Extension | None = None
    """Counts if there is also a config, as in some files of version 1."""
    held_out_share: _Share
    origin: CorpusOrigin
    visitor: str
    """Tells visitors apart for fair turns."""
    n_bytes: int
    """The size of the corpus."""
    asked_at: float
    """In seconds, as `time.time()`."""

    @property
    def how(self) -> TrainingConfig | Extension:
        """The settings to train with, or how it extends a tokenizer."""
        how = self.extension or self.config
        assert how is not None
        return how


class _Version1(msgspec.Struct):
    """What a file of version 1 says differently."""

    held_out_share: _Share
    origin: dict[str, Any] | None
    extension: dict[str, Any] | None = None
    held_out_by: str = "document"

    def fields(self) -> dict[str, Any]:
        """Return it as fields of version 2."""
        percent = round(self.held_out_share * 100)
        pasted = {"source": "paste", "sample_id": "", "held_out_percent": percent}
        fields = {
            "version": 2,
            "origin": (self.origin or pasted) | {"held_out_by": self.held_out_by},
        }
        if self.extension is not None:
            # Version 1 added no characters.
            fields["extension"] = self.extension | {"character_coverage": 0.0}
        return fields


class KeptRequest:
    """A request on disk that this process holds the lock of."""

    def __init__(self, folder: Path, lock: FileLock) -> None:
        self.folder = folder
        self._lock = lock

    def note_start(self) -> None:
        """Note that the training begins to run. Raises OSError."""
        write_whole(self.folder / _STARTS, str(self.n_starts + 1).encode())

    @property
    def n_starts(self) -> int:
        """How often the training began to run, in this server and in those before it."""
        try:
            return int(read_regular(self.folder / _STARTS))
        except (OSError, ValueError):
            return 0

    @property
    def text_bytes(self) -> int:
        """The size of its text on disk; 0 if it is missing."""
        try:
            return (self.folder / TEXT).stat().st_size
        except OSError:
            return 0

    def corpus(self) -> Corpus:
        """Read the corpus. Raises FormatError."""
        return read_corpus_files(self.folder)

    def base(self) -> Tokenizer:
        """Read the tokenizer to extend. Raises FormatError."""
        return read_base(self.folder)

    def remove(self) -> None:
        """Delete the request from the disk, if it is still there."""
        with suppress(OSError):
            delete_folder(self.folder)
        self.release()

    def release(self) -> None:
        """Leave the request to the next server."""
        self._lock.__exit__(None, None, None)


def keep_request(
    request: TrainingRequest, corpus: Corpus | FiledCorpus, base: Tokenizer | None = None
) -> KeptRequest:
    """Write a request, its corpus and the tokenizer to extend to the store, or nothing.

    Raises NotKeptError if there is no room for it, or no permission.
    """
    folder = store_folder() / f"{_PREFIX}{request.id}"
    with os_errors_as_not_kept(), new_folder(folder) as unfinished:
        if isinstance(corpus, FiledCorpus):
            link_corpus(corpus.folder, unfinished)
        else:
            write_corpus(unfinished, corpus)
        if base is not None:
            write_base(unfinished, base)
        (unfinished / _REQUEST).write_bytes(msgspec.json.encode(request))
        # Taken before the folder has its name, so that no server that starts now can take it.
        lock = FileLock(unfinished / _LOCK)
        lock.__enter__()
        make_room(folder_size(unfinished))
    return KeptRequest(folder, lock)


def left_requests() -> list[tuple[TrainingRequest, KeptRequest]]:
    """Take over the requests of servers that have ended, the one asked for first coming first.

    Damaged ones are deleted.
    """
    found: list[tuple[TrainingRequest, KeptRequest]] = []
    try:
        names = os.listdir(store_folder())
    except OSError:
        return []
    for name in names:
        if not name.startswith(_PREFIX) or not is_id(name.removeprefix(_PREFIX)):
            continue
        folder = store_folder() / name
        with suppress(OSError):
            lock = FileLock(folder / _LOCK)
            if not lock.__enter__():
                continue
            kept = KeptRequest(folder, lock)
            try:
                found.append((read_request(folder), kept))
            except (NotRegularError, ValueError, RecursionError, BpeError):
                kept.remove()
            except OSError:
                kept.release()
    return sorted(found, key=lambda pair: pair[0].asked_at)


def read_request(folder: Path) -> TrainingRequest:
    """Read the request in a folder.

    Raises OSError, and ValueError, RecursionError or BpeError if it is damaged.
    """
    fields = msgspec.json.decode(read_regular(folder / _REQUEST), type=dict[str, Any])
    if fields.get("version") == 1:
        fields |= msgspec.convert(fields, _Version1).fields()
    request = msgspec.convert(fields, TrainingRequest)
    if f"{_PREFIX}{request.id}" != folder.name:
        raise ValueError("It is not the request of this folder.")
    if request.extension is None:
        read_config(fields.get("config") or {})
    check_held_out_by(request.origin.held_out_by)
    return request
