"""What visitors brought, kept so that a refresh and a link bring it back.

Files come to Compare, and only what could be read is kept: tokenizers' files, and parallel
sentences. Texts are those that are too long for an address. All of it lies as it came, beside the
finished runs, and is read again by whoever has the id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from bpe_core.comparison.languages import read_parallel
from bpe_core.corpus.samples import ParallelText
from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.opening import open_encoder
from bpe_core.tokenizer.protocol import NamedEncoder
from bpe_core.whole_files import write_whole
from ui.storage.store import (
    UPLOAD_PREFIX,
    is_id,
    kept_folder,
    make_room,
    new_id,
    store_folder,
    told_if_not_kept,
    touch,
)

_DETAILS = "details.json"
_TEXT = "text"
_Kind = Literal["tokenizer", "sentences", "text"]


class UploadNotFoundError(BpeError):
    """No upload is kept under this id."""


def keep_tokenizer(
    files: Mapping[str, bytes], pretokenizer: str | None, opened: NamedEncoder
) -> str:
    """Keeps the files that were opened as a tokenizer; gives their new id.

    Raises NotKeptError.
    """
    upload_id = _keep("tokenizer", files, pretokenizer)
    # Nobody has to read at once what was read just now.
    _tokenizer(upload_id, opened)
    return upload_id


def load_tokenizer(upload_id: str) -> NamedEncoder:
    """The tokenizer kept under an id.

    Raises UploadNotFoundError for an id that is unknown or malformed, and FormatError where what is
    kept can't be read.
    """
    touch(_folder_of(upload_id))
    return _tokenizer(upload_id, None)


def keep_sentences(files: Sequence[tuple[str, bytes]]) -> str:
    """Keeps parallel sentences in files by name, and gives their new id.

    Raises what `read_parallel` raises, and nothing is kept then; and NotKeptError.
    """
    read_parallel(files)
    return _keep("sentences", dict(files), None)


def load_sentences(upload_id: str) -> tuple[ParallelText, ...]:
    """The parallel sentences kept under an id; raises what `load_tokenizer` raises."""
    touch(_folder_of(upload_id))
    return _sentences(upload_id)


def keep_text(text: str, *, instead_of: str | None = None) -> str:
    """Keeps a text, and gives its id: a new one, or that of the text whose place it takes.

    Raises NotKeptError.
    """
    data = text.encode("utf-8", "surrogatepass")
    if instead_of is None or not (folder := _folder_of(instead_of)).is_dir():
        return _keep("text", {_TEXT: data}, None)
    with told_if_not_kept():
        touch(folder)
        make_room(len(data))
        write_whole(folder / "0", data)  # its only file, by number
    return instead_of


def load_text(upload_id: str) -> str:
    """The text kept under an id; raises what `load_tokenizer` raises."""
    touch(_folder_of(upload_id))
    files, _ = _read("text", upload_id)
    return files[_TEXT].decode("utf-8", "surrogatepass")


# As many as anybody sets side by side; what falls out is read again.
@st.cache_resource(max_entries=32, show_spinner="Opening a tokenizer")
def _tokenizer(upload_id: str, _opened: NamedEncoder | None) -> NamedEncoder:
    if _opened is not None:
        return _opened
    files, pretokenizer = _read("tokenizer", upload_id)
    return open_encoder(files, pretokenizer=pretokenizer)


@st.cache_resource(max_entries=16, show_spinner=False)
def _sentences(upload_id: str) -> tuple[ParallelText, ...]:
    files, _ = _read("sentences", upload_id)
    return read_parallel(list(files.items()))


def _keep(kind: _Kind, files: Mapping[str, bytes], pretokenizer: str | None) -> str:
    upload_id = new_id()
    details = {"kind": kind, "names": list(files), "pretokenizer": pretokenizer}
    with kept_folder(f"{UPLOAD_PREFIX}{upload_id}") as folder:
        text = json.dumps(details, ensure_ascii=True)
        (folder / _DETAILS).write_text(text, encoding="ascii")
        # By number: a visitor's name for a file never becomes a path.
        for number, data in enumerate(files.values()):
            (folder / str(number)).write_bytes(data)
    return upload_id


def _read(kind: _Kind, upload_id: str) -> tuple[dict[str, bytes], str | None]:
    folder = _folder_of(upload_id)
    if not folder.is_dir():
        raise UploadNotFoundError("What this address names is not here any more. Bring it again.")
    try:
        details: dict[str, Any] = json.loads((folder / _DETAILS).read_text(encoding="ascii"))
        if details["kind"] != kind:
            raise UploadNotFoundError(f"What this address names is no {kind}.")
        names = enumerate(details["names"])
        return {name: (folder / str(n)).read_bytes() for n, name in names}, details["pretokenizer"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise FormatError("What is kept at this address is damaged. Bring it again.") from error


def _folder_of(upload_id: str) -> Path:
    """Where an upload lies; an id that this store never gave out reaches no path."""
    if not is_id(upload_id):
        raise UploadNotFoundError("This address names nothing: its id is malformed.")
    return store_folder() / f"{UPLOAD_PREFIX}{upload_id}"
