"""The note next to a tokenizer's file on what it was trained on, which few formats can hold.

It belongs to one file, whose hash it has: after that file was replaced by another tokenizer, the
note counts for nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bpe_core.corpus import TRAINED_ON_ENDING
from bpe_core.errors import FormatError, MissingFileError
from bpe_core.formats.folder_files import choose_files, read_files_at

if TYPE_CHECKING:
    from bpe_core.corpus import TrainedOn

FORMAT: Final = "bpe-explorer-training"
NOTE: Final = "a note on training"
"""What such a file is called in messages."""
_VERSION: Final = 1
_NATIVE_START: Final = b'{"format": "bpe-explorer-tokenizer"'
_RECORD: Final = b', "training": {'


def note_place(file: Path) -> Path:
    """Return where the note on a tokenizer's file is.

    >>> note_place(Path("mine.bpe.json")).name
    'mine.bpe.training.json'
    """
    return file.with_name(f"{file.name.removesuffix('.json')}{TRAINED_ON_ENDING}")


def noted_file(names: Iterable[str], out: str) -> Path:
    """Return the one of a tokenizer's files that its note belongs to, once it is written to `out`.

    >>> noted_file(["tokenizer_config.json", "tokenizer.json"], "mine").as_posix()
    'mine/tokenizer.json'
    """
    from bpe_core.formats.load_save import places_for

    places = places_for(names, out)
    name = choose_files([place.name for place in places], out)[0] if len(places) > 1 else ""
    return next((place for place in places if place.name == name), places[0])


def note_for(path: Path, trained_on: TrainedOn) -> tuple[Path, bytes]:
    """Return the place and the contents of the note for the tokenizer that was written to a path.

    Raises what `read_files_at` raises.
    """
    name, data = next(iter(read_files_at(path).items()))
    file = (path if path.is_dir() else path.parent) / name
    note = {
        "format": FORMAT,
        "version": _VERSION,
        "file_sha256": hashlib.sha256(data).hexdigest(),
        **trained_on.to_dict(),
    }
    return note_place(file), json.dumps(note).encode()


def read_note(path: Path, files: Mapping[str, bytes]) -> TrainedOn | None:
    """Return what the tokenizer at a path was trained on, or None if that is not known.

    `files` are its files, as `read_files_at` returns them. This package's own format has a record
    of the training; the note of a file has more.
    """
    name, data = next(iter(files.items()))
    file = (path if path.is_dir() else path.parent) / name
    with suppress(FormatError, OSError, ValueError):
        match json.loads(note_place(file).read_bytes()):
            case {"format": "bpe-explorer-training", "version": 1, "file_sha256": sha256, **record}:
                if sha256 == hashlib.sha256(data).hexdigest():
                    return _to_trained_on(record)
            case _:
                pass
    if not data.startswith(_NATIVE_START) or (at := data.rfind(_RECORD)) < 0:
        return None
    with suppress(FormatError, ValueError):
        # Only the record at the end, because parsing all of a large file takes long.
        record: Any = json.JSONDecoder().raw_decode(data[at + len(_RECORD) - 1 :].decode())[0]
        return _to_trained_on(record)
    return None


def _to_trained_on(record: Mapping[str, Any]) -> TrainedOn:
    # Most tokenizers have no record, and opening them does not need corpora.
    from bpe_core.corpus import TrainedOn

    return TrainedOn.from_dict(record)


def find_note(path: Path) -> TrainedOn | None:
    """Return what the tokenizer at a path was trained on, or None if that is not known."""
    with suppress(FormatError, MissingFileError):
        return read_note(path, read_files_at(path))
    return None
