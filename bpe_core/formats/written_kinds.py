"""Recognise the files that this package writes, so that no other file is overwritten.

What a corpus can be read from is in `corpus.file_kinds`.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import BinaryIO, Final
from zipfile import BadZipFile, ZipFile

from bpe_core.corpus import HELD_OUT_MARK, PARQUET_MARK, is_counts, is_zip, open_parquet_file
from bpe_core.errors import BpeError, FormatError
from bpe_core.files import Entry
from bpe_core.formats import native, tiktoken_file, training_note
from bpe_core.formats.gguf.gguf_header import looks_like_gguf
from bpe_core.formats.json_files import is_token_id, looks_like_json, parse_json
from bpe_core.formats.run_archive import is_run
from bpe_core.formats.sentencepiece_model import looks_like_sentencepiece
from bpe_core.formats.tekken import looks_like_tekken

HELD_OUT: Final = "held-out text"
COUNTS: Final = "a file of counts"
ENTRY: Final = "an entry of the store"
IDS: Final = "a list of ids"
RUN: Final = "a saved run"

_MAX_HEAD: Final = 1 << 16
_MAX_JSON: Final = 1 << 28
_MIN_RANKS: Final = 256
"""The lines that every .tiktoken file written here has: one for each byte, and no prose."""


def written_kind(file: BinaryIO, name: str) -> str | None:
    """Return which of the files that this package writes a file is, or None.

    >>> import io
    >>> written_kind(io.BytesIO(b"464 2068"), "ids.txt")
    'a list of ids'
    >>> written_kind(io.BytesIO(b"My notes"), "a.txt")
    """
    head = file.read(_MAX_HEAD)
    if looks_like_gguf(head):
        return "a GGUF file"
    if looks_like_sentencepiece(head):
        return "a SentencePiece model"
    if head.startswith(b"\x93NUMPY") and b"'<i4'" in head[:128]:
        return "an array of ids"
    if head.startswith(PARQUET_MARK):
        return _parquet_kind(file)
    if is_zip(head):
        return _zip_kind(file)
    if head.startswith(HELD_OUT_MARK):
        return HELD_OUT
    if looks_like_json(head, name):
        rest = file.read(_MAX_JSON)
        return None if file.read(1) else _json_kind(head + rest, name)
    return _text_kind(head)


def _parquet_kind(file: BinaryIO) -> str | None:
    try:
        columns = open_parquet_file(file, "").columns
    except BpeError:
        return None
    return COUNTS if is_counts(columns) else None


def _zip_kind(file: BinaryIO) -> str | None:
    try:
        with ZipFile(file) as archive:
            members = archive.namelist()
    except (BadZipFile, OSError, ValueError):
        return None
    if is_run(members):
        return RUN
    folders = {PurePosixPath(name).parts[0] for name in members if name}
    return ENTRY if len(folders) == 1 and Entry.is_name(*folders) else None


def _json_kind(data: bytes, name: str) -> str | None:
    try:
        described = parse_json(data, name)
    except BpeError:
        return None
    if described.get("format") == native.FORMAT:
        return "a native tokenizer"
    if described.get("format") == training_note.FORMAT:
        return training_note.NOTE
    if isinstance(described.get("model"), dict) and "added_tokens" in described:
        return "a tokenizer.json"
    if looks_like_tekken(described):
        return "a Tekken file"
    if described and all(map(is_token_id, described.values())):
        return "a vocabulary"
    if described.keys() == {"old_ids", "parts"}:
        return "a table of embedding rows"
    # Such as tokenizer_config.json, which is only written next to a tokenizer.json.
    return "a JSON object"


def _text_kind(head: bytes) -> str | None:
    if re.fullmatch(rb"[0-9 \n]+", head):
        return IDS
    if head.startswith(b"#version"):
        return "a list of merges"
    lines = head.split(b"\n", _MIN_RANKS)
    try:
        if len(lines) > _MIN_RANKS and tiktoken_file.read_ranks(b"\n".join(lines[:_MIN_RANKS])):
            return "a .tiktoken file"
    except FormatError:
        pass
    return None
