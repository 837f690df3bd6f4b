"""Unpack compressed files, and zip and tar archives, but no more than is safe.

A `Budget` limits what files may take once they are unpacked, however small they are when packed.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import time
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, Protocol, cast

from bpe_core.corpus.file_kinds import Packing, is_left_out, is_tar
from bpe_core.errors import CorpusError, UnsupportedFileError
from bpe_core.extras import import_arrow
from bpe_core.files import ARCHIVE_DAMAGE

if TYPE_CHECKING:
    from tarfile import TarInfo

MAX_UNPACKED_BYTES: Final = 512 * 2**20
# Text compresses to a tenth, logs and tables to a fiftieth. Below a hundredth it is one line
# repeated, which is harmless only while it is small.
MAX_UNPACKING_RATIO: Final = 100
FREELY_UNPACKED_BYTES: Final = 16 * 2**20
MAX_ROWS: Final = 4_000_000
# A row takes two bytes or more unless it is packed, and ten or more if it holds a sentence.
FREE_ROWS: Final = 250_000
_BYTES_FOR_ROW: Final = 2
MAX_COLUMNS: Final = 50_000
MAX_CELLS: Final = 1_000_000
"""The most values in one row of a csv or tsv file."""
MAX_JSON_VALUES: Final = 20_000_000
"""The most values in memory at a time, in a JSON file or one line of a jsonl file."""
MAX_SECONDS_APART: Final = 60.0
"""How long all files that are read in their own processes may take together."""
SECONDS_TO_DESCRIBE: Final = 10.0
"""The same if only the columns of the first tables are described."""
_CHUNK: Final = 1 << 20


class Budget:
    """What one reading may still take: unpacked bytes, bytes of text from tables, and rows.

    Archives may together unpack to `MAX_UNPACKED_BYTES`, and each source to `MAX_UNPACKING_RATIO`
    times its size or to `FREELY_UNPACKED_BYTES`, whichever is more. All tables together can have
    `MAX_ROWS` rows and twice `MAX_UNPACKED_BYTES` of text, and each source `FREE_ROWS` rows or
    one for every two of its bytes. Parquet files may together take `MAX_SECONDS_APART`: each has a
    limit of its own, but an archive may have thousands. `take` methods raise UnsupportedFileError.

    >>> budget = Budget()
    >>> budget.begin(1_000)
    >>> budget.take_rows(250_001, "a.csv")
    Traceback (most recent call last):
    bpe_core.errors.UnsupportedFileError: a.csv has more than 250,000 rows once unpacked, from \
1,000 bytes, as only nearly empty rows do. Unpack it first, and leave out rows without text.
    """

    def __init__(self, *, seconds_apart: float | None = None) -> None:
        self._unpacked = MAX_UNPACKED_BYTES
        self._written_out = 2 * MAX_UNPACKED_BYTES
        self._rows = MAX_ROWS
        self._seconds_apart = MAX_SECONDS_APART if seconds_apart is None else seconds_apart
        self.begin(0)

    def begin(self, n_bytes: int) -> None:
        """Start a new source of `n_bytes`."""
        self._size = n_bytes
        self._unpacked_of_source = max(FREELY_UNPACKED_BYTES, MAX_UNPACKING_RATIO * n_bytes)
        self._rows_of_source = self._max_rows = max(FREE_ROWS, n_bytes // _BYTES_FOR_ROW)

    def read(self, stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
        """Read a packed stream to its end."""
        # Its bytes are not copied on the way out, unlike when chunks are joined.
        unpacked = io.BytesIO()
        while chunk := stream.read(min(_CHUNK, self._unpacked + 1, self._unpacked_of_source + 1)):
            self._unpacked -= len(chunk)
            self._unpacked_of_source -= len(chunk)
            if self._unpacked < 0:
                raise UnsupportedFileError(
                    f"{name} exceeds the {MAX_UNPACKED_BYTES:,} bytes that may be unpacked at "
                    "a time. Give fewer or smaller files."
                )
            if self._unpacked_of_source < 0:
                raise UnsupportedFileError(
                    f"{name} unpacks to more than {MAX_UNPACKING_RATIO} times its size, as only "
                    "very repetitive text does. Unpack it first if you want to train on it."
                )
            unpacked.write(chunk)
        return unpacked.getvalue()

    def take_rows(self, n_rows: int, name: str) -> None:
        """Count rows of a table, those without text included."""
        self._rows -= n_rows
        self._rows_of_source -= n_rows
        if self._rows < 0:
            raise UnsupportedFileError(
                f"{name} exceeds the {MAX_ROWS:,} rows that are read at a time. Split it, or give "
                "fewer files."
            )
        if self._rows_of_source < 0:
            raise UnsupportedFileError(
                f"{name} has more than {self._max_rows:,} rows once unpacked, from "
                f"{self._size:,} bytes, as only nearly empty rows do. Unpack it first, and leave "
                "out rows without text."
            )

    @contextmanager
    def take_time(self, name: str) -> Generator[None]:
        """Count the time of the block, which reads a file in its own process.

        Raises UnsupportedFileError before the block if none is left.
        """
        if self._seconds_apart <= 0:
            raise UnsupportedFileError(
                f"{name} was not read, because the Parquet files before it took "
                f"{MAX_SECONDS_APART:.0f} seconds. Give fewer files at a time."
            )
        started = time.monotonic()
        try:
            yield
        finally:
            self._seconds_apart -= time.monotonic() - started

    def take_text(self, n_bytes: int, name: str) -> None:
        """Count bytes of text that a table holds packed, as Parquet files do."""
        self._written_out -= n_bytes
        if self._written_out < 0:
            raise UnsupportedFileError(
                f"{name} exceeds the {2 * MAX_UNPACKED_BYTES:,} bytes of text that are read from "
                "tables at a time. Split it, or give fewer files."
            )


def too_many_columns(name: str) -> UnsupportedFileError:
    """Return the error for a table with more than `MAX_COLUMNS` columns.

    >>> print(too_many_columns("a.csv"))
    a.csv has more than 50,000 columns. Keep the column of text and a few others.
    """
    return UnsupportedFileError(
        f"{name} has more than {MAX_COLUMNS:,} columns. Keep the column of text and a few others."
    )


_PIECE: Final = 1 << 20
_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def open_packed(file: BinaryIO, packing: Packing, name: str) -> BinaryIO:
    """Return a stream of what a packed file holds; raises MissingExtraError for zstd.

    >>> open_packed(io.BytesIO(gzip.compress(b"hug")), "gzip", "a.gz").read()
    b'hug'
    """
    if packing == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    if packing == "bzip2":
        return cast("BinaryIO", io.BufferedReader(_Streams(file, bz2.BZ2Decompressor), _PIECE))
    if packing == "xz":
        return cast("BinaryIO", io.BufferedReader(_Streams(file, lzma.LZMADecompressor), _PIECE))
    arrow = import_arrow(f"Reading {name}")
    stream = arrow.CompressedInputStream(arrow.PythonFile(file, "r"), "zstd")
    return cast("BinaryIO", io.BufferedReader(stream, _PIECE))


class _Decompressor(Protocol):
    """What both modules call a decompressor, for one stream."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Streams(io.RawIOBase):
    """What a file of several bzip2 or xz streams holds, one after another.

    The classes of the standard library end without an error at a stream that is damaged near its
    beginning, and at the zeros that may stand between streams.
    """

    def __init__(self, file: BinaryIO, begin: Callable[[], _Decompressor]) -> None:
        self._file = file
        self._begin = begin
        self._stream = begin()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while True:
            data = b""
            if self._stream.eof:
                data = self._stream.unused_data or self._file.read(_PIECE)
                while data and not (data := data.lstrip(b"\x00")):
                    data = self._file.read(_PIECE)
                if not data:
                    return 0
                self._stream = self._begin()
            elif self._stream.needs_input:
                data = self._file.read(_PIECE)
                if not data:
                    raise EOFError("it ends too early")
            if unpacked := self._stream.decompress(data, len(buffer)):
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)


def unpack(data: bytes, packing: Packing, name: str, budget: Budget) -> bytes:
    """Unpack a compressed file; raises UnsupportedFileError if it is damaged or too large."""
    try:
        with open_packed(io.BytesIO(data), packing, name) as stream:
            return budget.read(stream, name)
    except CorpusError:
        raise
    except EOFError:
        raise UnsupportedFileError(
            f"{name} is an incomplete {packing} file: it ends too early. Download or compress it "
            "again."
        ) from None
    except (OSError, ValueError, zlib.error, lzma.LZMAError, MemoryError):
        raise UnsupportedFileError(
            f"{name} is a damaged {packing} file. Download or compress it again."
        ) from None


class ArchiveMember(NamedTuple):
    """A file in an archive."""

    name: str
    begin: float
    """The fraction of the archive's unpacked size that precedes this member."""
    share: float
    """The fraction that is this member."""
    data: bytes | CorpusError


def iterate_members(
    data: bytes, name: str, budget: Budget, max_files: int | None = None
) -> Iterator[ArchiveMember]:
    """Yield the files of a zip or tar archive, each with its bytes or the error of unpacking it.

    Hidden files and macOS's metadata are left out. Raises UnsupportedFileError if the archive is
    damaged or has more than `max_files`.
    """
    if is_tar(data):
        return _tar_members(data, name, max_files)
    return _zip_members(data, name, budget, max_files)


def _zip_members(
    data: bytes, name: str, budget: Budget, max_files: int | None
) -> Iterator[ArchiveMember]:
    # Python describes every file in memory before it can be asked how many there are. A stored
    # archive within this one has such entries as well.
    if max_files is not None and (n_entries := data.count(_ENTRY)) > 2 * max_files:
        raise _too_many_members(name, n_entries, max_files)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        infos = [
            info
            for info in archive.infolist()
            if info.filename and not info.is_dir() and not is_left_out(info.filename)
        ]
    except ARCHIVE_DAMAGE:
        raise UnsupportedFileError(
            f"{name} is a damaged or incomplete zip file. Download or compress it again."
        ) from None
    if max_files is not None and len(infos) > max_files:
        raise _too_many_members(name, len(infos), max_files)
    total = sum(info.file_size for info in infos) or 1
    begin = 0.0
    with archive:
        for info in infos:
            member = f"{name}/{info.filename}"
            unpacked: bytes | CorpusError
            try:
                with archive.open(info) as stream:
                    unpacked = budget.read(stream, name)
            except CorpusError:
                raise
            except ARCHIVE_DAMAGE:
                unpacked = UnsupportedFileError(
                    f"{member} cannot be unpacked: {_obstacle(info)}. Compress it again, with the "
                    "usual method and without a password."
                )
            share = info.file_size / total
            yield ArchiveMember(member, begin, share, unpacked)
            begin += share


def _tar_members(data: bytes, name: str, max_files: int | None) -> Iterator[ArchiveMember]:
    """Yield the files of a tar archive, whose bytes are parts of it: none is written anywhere."""
    import tarfile  # here, because opening a tokenizer needs no archives, and it takes 10 ms

    n_files = end = 0
    path = ""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            while (info := archive.next()) is not None:
                # Every member begins after the one before; only a forged header says otherwise.
                if info.offset < end or info.size < 0:
                    raise tarfile.ReadError
                end = info.offset + tarfile.BLOCKSIZE
                # Otherwise the archive would keep a description of every file.
                cast("Any", archive).members = []
                path = info.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                # Links name other files, which are read themselves if they are in the archive.
                if not info.isreg() or is_left_out(path):
                    continue
                n_files += 1
                if max_files is not None and n_files > max_files:
                    raise _too_many_members(name, n_files, max_files)
                place = info.offset_data / len(data)
                found = _read_part(data, info, f"{name}/{path}")
                share = 0.0 if isinstance(found, CorpusError) else len(found) / len(data)
                yield ArchiveMember(f"{name}/{path}", place, share, found)
                if isinstance(found, CorpusError) and info.sparse is None:
                    return
            # Python takes a damaged header, but for the first one, for the end.
            if data[archive.offset : archive.offset + tarfile.BLOCKSIZE].strip(b"\x00"):
                raise tarfile.ReadError
    except CorpusError:
        raise
    except (tarfile.TarError, *ARCHIVE_DAMAGE):
        remedy = "Download or pack it again."
        if not n_files:
            raise UnsupportedFileError(f"{name} is a damaged tar file. {remedy}") from None
        error = UnsupportedFileError(
            f"{name} is damaged or incomplete after its file {path!r:.80}, so those that follow "
            f"were not read. {remedy}"
        )
        yield ArchiveMember(name, 1.0, 0.0, error)


def _read_part(data: bytes, info: TarInfo, name: str) -> bytes | CorpusError:
    if info.sparse is not None:
        return UnsupportedFileError(
            f"{name} is stored as a sparse file. Pack it again without --sparse."
        )
    found = data[info.offset_data : info.offset_data + info.size]
    if len(found) < info.size:
        return UnsupportedFileError(
            f"{name} is incomplete: the archive ends too early. Download it again."
        )
    return found


def _too_many_members(name: str, number: int, max_files: int) -> UnsupportedFileError:
    return UnsupportedFileError(
        f"{name} has {number:,} files or more; the limit is {max_files:,} files in an archive. "
        "Join some, or give fewer."
    )


def _obstacle(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return "its compression method is not supported"
    return "it is damaged"
