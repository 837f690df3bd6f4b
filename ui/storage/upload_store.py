"""Keep visitors' files and texts, so that a refresh or a link brings them back.

The files are tokenizers and parallel sentences added on Compare, kept only if they could be read.
The texts are those too long for an address, and the corpora those uploaded on Train, Adapt and
Compare. All are stored next to the finished runs, and anyone with the id can open them.
A kept text can also be held out of another corpus: `divide`.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, Final, Literal

from bpe_core.corpus import (
    Corpus,
    ParallelText,
    Split,
    open_saved,
)
from bpe_core.errors import BpeError, FormatError, IntegrityError, NewerFormatError
from bpe_core.files import Entry, Store
from bpe_core.formats import open_untrusted
from bpe_core.tokenizer import NamedEncoder
from ui.host import cached
from ui.storage.keeping import kept_folder, make_room, os_errors_as_not_kept

_TEXT = "text"
_HELD_OUT: Final = "held_out"
Kind = Literal["tokenizer", "sentences", "text", "corpus"]
_places: Final = BoundedSemaphore(2)
"""Each process that opens a large tokenizer may take gigabytes."""


class UploadNotFoundError(BpeError):
    """No upload of this kind has this id."""


def open_uploaded(files: Mapping[str, bytes], pretokenizer: str | None) -> NamedEncoder:
    """Open a visitor's tokenizer, large ones in one of few processes first; raises BpeError."""
    return open_untrusted(files, pretokenizer=pretokenizer, place=lambda: _places)


def keep_tokenizer(
    files: Mapping[str, bytes], pretokenizer: str | None, opened: NamedEncoder
) -> str:
    """Keep the files that were opened as a tokenizer, and return their new id.

    Raises NotKeptError.
    """
    upload_id = _keep("tokenizer", files, pretokenizer)
    # Cache the tokenizer, so that the files are not read again immediately.
    _tokenizer(upload_id, opened)
    return upload_id


def load_tokenizer(upload_id: str) -> NamedEncoder:
    """Return the tokenizer kept under an id.

    Raises UploadNotFoundError for an unknown or malformed id, and FormatError for damaged files.
    """
    Entry(upload_folder(upload_id)).touch()
    return _tokenizer(upload_id, None)


def tokenizer_files(upload_id: str) -> dict[str, bytes]:
    """Return a tokenizer's files, as file name -> bytes; raise what `load_tokenizer` raises."""
    files, _ = _read("tokenizer", upload_id)
    return files


def keep_sentences(files: Sequence[tuple[str, bytes]]) -> str:
    """Keep files of parallel sentences, and return their new id.

    Raises NotKeptError, and what `ParallelText.read` raises; then nothing is kept.
    """
    ParallelText.read(files)
    return _keep("sentences", dict(files), None)


def load_sentences(upload_id: str) -> tuple[ParallelText, ...]:
    """Return the parallel sentences kept under an id; raise what `load_tokenizer` raises."""
    Entry(upload_folder(upload_id)).touch()
    return _sentences(upload_id)


def keep_text(text: str, *, instead_of: str | None = None) -> str:
    """Keep a text, and return its id: a new one, or `instead_of` if that text is replaced.

    Raises NotKeptError.
    """
    data = text.encode("utf-8", "surrogatepass")
    if instead_of is not None:
        folder = upload_folder(instead_of)
        # A text that was deleted, or is damaged or of a newer version, is kept as a new one.
        with os_errors_as_not_kept(), suppress(FileNotFoundError, FormatError):
            Entry(folder).touch()
            make_room(len(data))
            Entry(folder).replace("0", data)  # files are stored by number: this is the only one
            return instead_of
    return _keep("text", {_TEXT: data}, None)


def load_text(upload_id: str) -> str:
    """Return the text kept under an id; raise what `load_tokenizer` raises."""
    Entry(upload_folder(upload_id)).touch()
    files, _ = _read("text", upload_id)
    return files[_TEXT].decode("utf-8", "surrogatepass")


@cached(spinner="Opening a tokenizer")
def _tokenizer(upload_id: str, _opened: NamedEncoder | None) -> NamedEncoder:
    if _opened is not None:
        return _opened
    files, pretokenizer = _read("tokenizer", upload_id)
    return open_uploaded(files, pretokenizer)


@cached()
def _sentences(upload_id: str) -> tuple[ParallelText, ...]:
    files, _ = _read("sentences", upload_id)
    return ParallelText.read(list(files.items()))


def _keep(kind: Kind, files: Mapping[str, bytes], pretokenizer: str | None) -> str:
    upload_id = Entry.new_id()
    details = {"kind": kind, "names": list(files), "pretokenizer": pretokenizer}
    with kept_folder(f"{Entry.UPLOAD}{upload_id}") as folder:
        text = json.dumps(details, ensure_ascii=True)
        (folder / Entry.DETAILS).write_text(text, encoding="ascii")
        # Stored by number, so that a visitor's file name never becomes a path.
        for number, data in enumerate(files.values()):
            (folder / str(number)).write_bytes(data)
    return upload_id


def _read(kind: Kind, upload_id: str) -> tuple[dict[str, bytes], str | None]:
    folder = upload_folder(upload_id)
    with _reading(kind, folder) as details:
        names = enumerate(details["names"])
        files = {name: Entry(folder).read(str(number)) for number, name in names}
        return files, details["pretokenizer"]


@contextmanager
def _reading(kind: Kind, folder: Path) -> Generator[dict[str, Any]]:
    """Yield the details of an upload of a kind; name what is wrong with it, in the block too.

    Raises UploadNotFoundError, FormatError for damaged files, and NotPermittedError for those of
    another user.
    """
    with Store.permitted("What is kept at this address"):
        if not folder.is_dir():
            raise UploadNotFoundError(
                "What this address names is no longer kept on this server. Add it again."
            )
        try:
            details: dict[str, Any] = json.loads(Entry(folder).read(Entry.DETAILS))
            if (found := details["kind"]) != kind:
                raise UploadNotFoundError(f"Expected {kind} at this address, got {found}.")
            yield details
        except PermissionError:
            raise
        except NewerFormatError as error:
            raise NewerFormatError(
                "What is kept at this address was stored by a newer version of BPE Explorer. "
                "Update BPE Explorer to open it."
            ) from error
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            if isinstance(error, BpeError) and not isinstance(error, IntegrityError):
                raise
            raise FormatError("What is kept at this address is damaged. Add it again.") from error


def upload_folder(upload_id: str) -> Path:
    """Return the folder of an upload; raise UploadNotFoundError for a malformed id."""
    if not Entry.is_id(upload_id):
        raise UploadNotFoundError(
            "The id in this address is malformed: expected 32 digits and letters from a to f. "
            "Copy the complete address."
        )
    return Store().folder / f"{Entry.UPLOAD}{upload_id}"


def keep_uploaded(corpus: Corpus, title: str) -> str:
    """Keep an uploaded corpus and its title, which is user input, and return the new id.

    Raises NotKeptError.
    """
    upload_id = Entry.new_id()
    with kept_folder(f"{Entry.UPLOAD}{upload_id}") as folder:
        details: dict[str, Any] = {"kind": "corpus", "names": [title]}
        corpus.save(folder)
        (folder / Entry.DETAILS).write_text(json.dumps(details), "ascii")
    return upload_id


def load_uploaded(upload_id: str) -> tuple[Corpus, str]:
    """Return the corpus kept under an id, and its title.

    Raises UploadNotFoundError for an unknown or malformed id, and FormatError for damaged files.
    """
    folder = upload_folder(upload_id)
    Entry(folder).touch()
    with _reading("corpus", folder) as details:
        return open_saved(folder), str(details["names"][0])


def write_held_out(folder: Path, upload_id: str) -> None:
    """Write a kept text, which a process holds out, into its folder; raises OSError.

    Raises what `load_uploaded` raises.
    """
    (folder / _HELD_OUT).mkdir()
    load_uploaded(upload_id)[0].save(folder / _HELD_OUT)


def read_held_out(folder: Path) -> Corpus | None:
    """Read it again; None if none was written. Raises FormatError if it is damaged."""
    return Corpus.open(folder / _HELD_OUT) if (folder / _HELD_OUT).is_dir() else None


HELD_OUT_SEED: Final = 0
UPLOAD_HELD_OUT: Final = "upload:"
"""Stands before the id under which a visitor's text is kept that is held out."""


def upload_held_out(by: str | None) -> str | None:
    """Return the id that the held-out text is kept under, or None if the corpus itself is divided.

    >>> upload_held_out("upload:0123"), upload_held_out("folder")
    ('0123', None)
    """
    if by is None or not by.startswith(UPLOAD_HELD_OUT):
        return None
    return by.removeprefix(UPLOAD_HELD_OUT)


def check_held_out_by(by: str | None) -> None:
    """Raise ConfigError for what `divide` does not accept."""
    if by is not None and upload_held_out(by) is None:
        Split.check_by(by)


def divide(corpus: Corpus, held_out_share: float, by: str | None) -> tuple[Corpus, Corpus]:
    """Return the training text and the held-out text.

    `by` is what `Corpus.split` takes, or names a text kept in the store. Raises what `split`,
    `hold_out` and `load_uploaded` raise.
    """
    if (upload_id := upload_held_out(by)) is not None:
        return corpus.hold_out(load_uploaded(upload_id)[0])
    return corpus.split(held_out_share, HELD_OUT_SEED, by)
