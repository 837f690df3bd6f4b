"""Recognise the files that this package writes, so that no other file is overwritten.

What a corpus can be read from is in `corpus.file_kinds`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import BinaryIO, Final
from zipfile import BadZipFile, ZipFile

from bpe_core.corpus import HELD_OUT_MARK, PARQUET_MARK, is_counts, is_zip, open_parquet_file
from bpe_core.errors import BpeError, FormatError
from bpe_core.files import Entry
from bpe_core.formats import folder_files, native, tiktoken_file
from bpe_core.formats.gguf.gguf_header import looks_like_gguf
from bpe_core.formats.json_files import is_token_id, looks_like_json, parse_json
from bpe_core.formats.run_archive import is_run
from bpe_core.formats.sentencepiece_model import looks_like_sentencepiece
from bpe_core.formats.tiktoken_file import looks_like_tekken

_MAX_HEAD: Final = 1 << 16
_MAX_JSON: Final = 1 << 28
_MIN_RANKS: Final = 256
"""The lines that every .tiktoken file written here has: one for each byte, and no prose."""


class WrittenKind(StrEnum):
    """The files that this package writes, as messages call them."""

    ARRAY = "an array of ids"
    COUNTS = "a file of counts"
    ENTRY = "an entry of the store"
    GGUF = "a GGUF file"
    HELD_OUT = "held-out text"
    IDS = "a list of ids"
    JSON = "a JSON object"
    """Such as tokenizer_config.json, which is only written next to a tokenizer.json."""
    MERGES = "a list of merges"
    NATIVE = "a native tokenizer"
    NOTE = "a note on training"
    ROWS = "a table of embedding rows"
    RUN = "a saved run"
    SENTENCEPIECE = "a SentencePiece model"
    TEKKEN = "a Tekken file"
    TIKTOKEN = "a .tiktoken file"
    TOKENIZER_JSON = "a tokenizer.json"
    VOCABULARY = "a vocabulary"

    @classmethod
    def of(cls, file: BinaryIO, name: str) -> WrittenKind | None:
        """Return which of them a file is, or None.

        >>> import io
        >>> str(WrittenKind.of(io.BytesIO(b"464 2068"), "ids.txt"))
        'a list of ids'
        >>> WrittenKind.of(io.BytesIO(b"My notes"), "a.txt")
        """
        head = file.read(_MAX_HEAD)
        if looks_like_gguf(head):
            return cls.GGUF
        if looks_like_sentencepiece(head):
            return cls.SENTENCEPIECE
        if head.startswith(b"\x93NUMPY") and b"'<i4'" in head[:128]:
            return cls.ARRAY
        if head.startswith(PARQUET_MARK):
            return _parquet_kind(file)
        if is_zip(head):
            return _zip_kind(file)
        if head.startswith(HELD_OUT_MARK):
            return cls.HELD_OUT
        if looks_like_json(head, name):
            rest = file.read(_MAX_JSON)
            return None if file.read(1) else _json_kind(head + rest, name)
        return _text_kind(head)


def _parquet_kind(file: BinaryIO) -> WrittenKind | None:
    try:
        columns = open_parquet_file(file, "").columns
    except BpeError:
        return None
    return WrittenKind.COUNTS if is_counts(columns) else None


def _zip_kind(file: BinaryIO) -> WrittenKind | None:
    try:
        with ZipFile(file) as archive:
            members = archive.namelist()
    except (BadZipFile, OSError, ValueError):
        return None
    if is_run(members):
        return WrittenKind.RUN
    folders = {PurePosixPath(name).parts[0] for name in members if name}
    return WrittenKind.ENTRY if len(folders) == 1 and Entry.is_name(*folders) else None


def _json_kind(data: bytes, name: str) -> WrittenKind | None:
    try:
        described = parse_json(data, name)
    except BpeError:
        return None
    if described.get("format") == native.FORMAT:
        return WrittenKind.NATIVE
    if described.get("format") == folder_files.NOTE_FORMAT:
        return WrittenKind.NOTE
    if isinstance(described.get("model"), dict) and "added_tokens" in described:
        return WrittenKind.TOKENIZER_JSON
    if looks_like_tekken(described):
        return WrittenKind.TEKKEN
    if described and all(map(is_token_id, described.values())):
        return WrittenKind.VOCABULARY
    if described.keys() == {"old_ids", "parts"}:
        return WrittenKind.ROWS
    return WrittenKind.JSON


def _text_kind(head: bytes) -> WrittenKind | None:
    if re.fullmatch(rb"[0-9 \n]+", head):
        return WrittenKind.IDS
    if head.startswith(b"#version"):
        return WrittenKind.MERGES
    lines = head.split(b"\n", _MIN_RANKS)
    try:
        if len(lines) > _MIN_RANKS and tiktoken_file.read_ranks(b"\n".join(lines[:_MIN_RANKS])):
            return WrittenKind.TIKTOKEN
    except FormatError:
        pass
    return None
