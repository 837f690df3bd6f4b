"""Unpack gzip and zip archives, but no more than is safe."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.corpus.budget import Budget
from bpe_core.corpus.damage import ARCHIVE_DAMAGE
from bpe_core.errors import CorpusError, UnsupportedFileError

_MOST_MEMBERS = 10_000

_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def gunzip(data: bytes, name: str, budget: Budget) -> bytes:
    """Unpack a gzip file; raises UnsupportedFileError if it is damaged or exceeds the budget."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return budget.read(stream, name)
    except EOFError:
        raise UnsupportedFileError(
            f"{name} is an incomplete gzip file: it ends too early. Download or compress it again."
        ) from None
    except (OSError, zlib.error):
        raise UnsupportedFileError(
            f"{name} is a damaged gzip file. Download or compress it again."
        ) from None


class Member(NamedTuple):
    """A file in a zip archive."""

    name: str
    begin: float
    """The fraction of the archive's unpacked size that precedes this member."""
    share: float
    """The fraction that is this member."""
    data: bytes | CorpusError


def members_of(data: bytes, name: str, budget: Budget) -> Iterator[Member]:
    """Yield the files of a zip archive, each with its bytes or the error of unpacking it.

    Raises UnsupportedFileError if the archive is damaged or has too many files.
    """
    # Python describes every file in memory before it can be asked how many there are. A stored
    # archive within this one has such entries as well.
    if (n_entries := data.count(_ENTRY)) > 2 * _MOST_MEMBERS:
        raise _too_many_members(name, n_entries)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        infos = [
            info
            for info in archive.infolist()
            # macOS adds a hidden file of metadata beside each file.
            if info.filename and not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
    except ARCHIVE_DAMAGE:
        raise UnsupportedFileError(
            f"{name} is a damaged or incomplete zip file. Download or compress it again."
        ) from None
    if len(infos) > _MOST_MEMBERS:
        raise _too_many_members(name, len(infos))
    total = sum(info.file_size for info in infos) or 1
    begin = 0.0
    with archive:
        for info in infos:
            member = f"{name}/{info.filename}"
            unpacked: bytes | CorpusError
            try:
                with archive.open(info) as stream:
                    unpacked = budget.read(stream, name)
            except ARCHIVE_DAMAGE:
                unpacked = UnsupportedFileError(
                    f"{member} cannot be unpacked: {_obstacle(info)}. Compress it again, with the "
                    "usual method and without a password."
                )
            share = info.file_size / total
            yield Member(member, begin, share, unpacked)
            begin += share


def _too_many_members(name: str, number: int) -> UnsupportedFileError:
    return UnsupportedFileError(
        f"{name} has {number:,} files, more than the {_MOST_MEMBERS:,} allowed. Join some, or give "
        "fewer."
    )


def _obstacle(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return "its compression method is not supported"
    return "it is damaged"
