"""The kinds of files that a corpus is read from, by their names and their first bytes.

Reading whole files, streaming them and counting them in stretches all decide by these tables.
"""

from __future__ import annotations

import os
from typing import Final, Literal, NamedTuple

import regex

from bpe_core.corpus.encoding_guess import shown_encoding

Packing = Literal["gzip", "bzip2", "xz", "zstd"]

TABLE_KINDS: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""The endings of files whose rows are documents."""
JSON_LINES: Final = (".jsonl", ".ndjson")
PARQUET_MARK: Final = b"PAR1"
_PACKINGS: Final[dict[Packing, tuple[str, bytes]]] = {
    "gzip": (".gz", b"\x1f\x8b"),
    "bzip2": (".bz2", b"BZh"),
    "xz": (".xz", b"\xfd7zXZ\x00"),
    "zstd": (".zst", b"\x28\xb5\x2f\xfd"),
}
_OTHER_ENDINGS: Final[dict[str, Packing]] = {
    ".gzip": "gzip",
    ".bzip2": "bzip2",
    ".lzma": "xz",
    ".zstd": "zstd",
}
# The first bytes of xz's older format, and of what zstd skips at the beginning of a file.
_LZMA_MARK: Final = b"\x5d\x00\x00"
_SKIPPED_BY_ZSTD: Final = regex.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_PACKED_TARS: Final[dict[str, Packing]] = {
    ".tgz": "gzip",
    ".tbz2": "bzip2",
    ".txz": "xz",
    ".tzst": "zstd",
}
_BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17rE8P\x90")
_ZIP_MARKS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MARK: Final = b"ustar"
_TAR_MARK_AT: Final = 257
_TAR_HEADER: Final = 512
_TAR_SUM: Final = slice(148, 156)
HEAD_BYTES: Final = 4_096
HELD_OUT_ENDING: Final = ".held-out.jsonl"
"""How the name of a file of held-out text ends, which a training writes next to its result."""
TRAINED_ON_ENDING: Final = ".training.json"
"""How the name of a note on what a tokenizer was trained on ends."""
"""How much of a file's beginning shows its kind."""
_UNPACK: Final = "Unpack it first."
_GIVE_TEXT: Final = "Give text instead."
_RECORDING: Final = ("a recording", "Give text instead, such as a transcript.")
_PROGRAM: Final = ("a program", "Give text instead, such as its source code.")
_DOCUMENT: Final = "Save it as plain text (.txt) or as UTF-8 CSV first."
# The first bytes of files that are not text, whatever their names; what they are; what to do.
_SIGNATURES: Final = (
    (b"%PDF-", "a PDF document", "Extract its text first, for example with pdftotext."),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture", _GIVE_TEXT),
    (b"\xff\xd8\xff", "a JPEG picture", _GIVE_TEXT),
    (b"GIF87a", "a GIF picture", _GIVE_TEXT),
    (b"GIF89a", "a GIF picture", _GIVE_TEXT),
    (b"II*\x00", "a TIFF picture", _GIVE_TEXT),
    (b"MM\x00*", "a TIFF picture", _GIVE_TEXT),
    (b"\x7fELF", *_PROGRAM),
    (b"MZ\x90\x00", *_PROGRAM),
    (b"\xca\xfe\xba\xbe", *_PROGRAM),
    (b"\xcf\xfa\xed\xfe", *_PROGRAM),
    (b"\x00asm", *_PROGRAM),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\x04\x22\x4d\x18", "an LZ4 archive", _UNPACK),
    (b"\x1f\x9d", "a .Z archive", _UNPACK),
    (b"SQLite format 3\x00", "an SQLite database", "Export its text as CSV first."),
    (b"ARROW1\x00\x00", "an Arrow file", "Save its table as Parquet first."),
    (b"ORC\x08", "an ORC file", "Save its table as Parquet first."),
    (b"Obj\x01", "an Avro file", "Save its table as Parquet first."),
    (b"\x89HDF\r\n", "an HDF5 file", "Export its text first."),
    (b"\x93NUMPY", "a NumPy array", "Export its text first."),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document", _DOCUMENT),
    (b"GGUF", "a GGUF model", "A corpus is text; open tokenizers by bpe.open_encoder."),
    (b"OggS\x00", *_RECORDING),
    (b"ID3", *_RECORDING),
    (b"RIFF", "a recording or a picture", _GIVE_TEXT),
    (b"fLaC\x00", *_RECORDING),
    (b"\x1aE\xdf\xa3", *_RECORDING),
)
# A text may start with these letters too, so they count only if a NUL follows soon.
_WORDLIKE: Final = (b"ID3", b"RIFF", b"GGUF")
_MARKS: Final = tuple(signature for signature, _, _ in _SIGNATURES)
# Zip archives under another name: their text is inside XML, so their members are not documents.
_OFFICE: Final = {
    ".docx": "a Word document",
    ".xlsx": "an Excel workbook",
    ".pptx": "a PowerPoint presentation",
    ".odt": "an OpenDocument text",
    ".ods": "an OpenDocument spreadsheet",
    ".odp": "an OpenDocument presentation",
    ".epub": "an EPUB book",
    ".jar": "a Java program",
    ".whl": "a Python wheel",
    ".npz": "a file of NumPy arrays",
}
# The first member of such an archive, and where a zip file has its name.
_OFFICE_MEMBER: Final = b"[Content_Types].xml"
_MIMETYPE: Final = b"mimetypeapplication/"
_PATH_IN_ZIP: Final = 30
# Programs write these folders next to the files that hold text.
_HELPERS: Final = ("__pycache__", "__MACOSX", "_temporary")


class OtherKind(NamedTuple):
    """A kind of file that is not read as text, and what to do about it."""

    what: str
    remedy: str


def file_suffix(name: str) -> str:
    """Return the ending of a file's name in lower case.

    >>> file_suffix("folder/A.CSV"), file_suffix("Makefile")
    ('.csv', '')
    """
    # As PurePath does, which takes ten times as long.
    name = name.lower().rstrip("/").rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:] if 0 < dot < len(name) - 1 else ""


def detect_packing(head: bytes) -> Packing | None:
    """Return how a file is packed, by its first bytes, or None if it is not.

    >>> import gzip
    >>> detect_packing(gzip.compress(b"hug")), detect_packing(b"BZh9 is not bzip2")
    ('gzip', None)
    """
    for packing, (_, mark) in _PACKINGS.items():
        if head.startswith(mark):
            is_text = packing == "bzip2" and not head[4:].startswith(_BZIP2_BLOCKS)
            return None if is_text else packing
    if head.startswith(_LZMA_MARK):
        return "xz"
    return "zstd" if _SKIPPED_BY_ZSTD.match(head) else None


def unpacked_name(name: str) -> tuple[str, Packing | None]:
    """Return a file's name without the ending of its packing, and the packing or None.

    >>> unpacked_name("a.json.gz"), unpacked_name("a.tgz"), unpacked_name("a.txt")
    (('a.json', 'gzip'), ('a.tar', 'gzip'), ('a.txt', None))
    """
    suffix = file_suffix(name)
    if suffix in _PACKED_TARS:
        return f"{name[: -len(suffix)]}.tar", _PACKED_TARS[suffix]
    for packing, (ending, _) in _PACKINGS.items():
        if suffix == ending:
            return name[: -len(ending)], packing
    if suffix in _OTHER_ENDINGS:
        return name[: -len(suffix)], _OTHER_ENDINGS[suffix]
    return name, None


def is_zip(head: bytes) -> bool:
    """Return True for a zip archive, which an Office document is too."""
    return head.startswith(_ZIP_MARKS)


def is_tar(head: bytes) -> bool:
    """Return True for a tar archive; the oldest have no mark, only the sum of their header."""
    if head[_TAR_MARK_AT:].startswith(_TAR_MARK):
        return True
    digits = head[_TAR_SUM].strip(b" \x00")
    if len(head) < _TAR_HEADER or not digits.isdigit() or b"8" in digits or b"9" in digits:
        return False
    # The sum itself counts as spaces.
    rest = head[: _TAR_SUM.start] + b" " * 8 + head[_TAR_SUM.stop : _TAR_HEADER]
    return int(digits, 8) == sum(rest)


def is_archive(head: bytes) -> bool:
    """Return True for a zip or tar archive, of which each file is read.

    >>> is_archive(b"PK\\x03\\x04"), is_archive(b"hug")
    (True, False)
    """
    return is_zip(head) or is_tar(head)


def is_packed(head: bytes) -> bool:
    """Return True for a file whose contents may be larger than the file.

    >>> is_packed(b"PAR1"), is_packed(b"hug")
    (True, False)
    """
    return detect_packing(head) is not None or is_archive(head) or head.startswith(PARQUET_MARK)


def is_table(head: bytes, kind: str) -> bool:
    """Return True for the ending of a table, such as ".csv", and for a Parquet file of any name."""
    return kind in TABLE_KINDS or head.startswith(PARQUET_MARK)


def is_plain_text(head: bytes, name: str) -> bool:
    """Return True if a file may be UTF-8 text without rows, by its name and its `JUDGED_BYTES`.

    >>> is_plain_text(b"hug", "a.py"), is_plain_text(b"text\\nhug", "a.csv")
    (True, False)
    """
    if is_packed(head) or other_kind(head, name) or is_table(head, file_suffix(name)):
        return False
    return shown_encoding(head) is None


def other_kind(head: bytes, name: str) -> OtherKind | None:
    """Return what a file is that is not read as text, by its first bytes and its name.

    >>> other_kind(b"%PDF-1.7", "paper.pdf")
    OtherKind(what='a PDF document', remedy='Extract its text first, for example with pdftotext.')
    """
    if is_zip(head):
        if what := _OFFICE.get(file_suffix(name)):
            return OtherKind(what, _DOCUMENT)
        if head[_PATH_IN_ZIP:].startswith(_MIMETYPE):
            return OtherKind("an OpenDocument file or an EPUB book", _DOCUMENT)
        if head[_PATH_IN_ZIP:].startswith(_OFFICE_MEMBER):
            return OtherKind("an Office document", _DOCUMENT)
        return None
    if head.startswith(_MARKS):
        for signature, what, remedy in _SIGNATURES:
            if head.startswith(signature):
                if signature in _WORDLIKE and b"\x00" not in head[:512]:
                    continue
                return OtherKind(what, remedy)
    if head[4:8] == b"ftyp":
        return OtherKind(*_RECORDING)
    return None


def is_left_out(path: str) -> bool:
    """Return True for a file of a folder or an archive that is not part of its text.

    These are hidden files, the empty files that mark a finished Spark job, the folders of Python's
    bytecode and macOS's metadata, and what a training wrote there besides a tokenizer: text that
    it held out must not be trained on next time.

    >>> [is_left_out(path) for path in ("a/.git/x", "a/_SUCCESS", "__pycache__/a", "__init__.py")]
    [True, True, True, False]
    >>> is_left_out("tokenizer.held-out.jsonl")
    True
    """
    *folders, name = path.split("/")
    is_hidden = any(part.startswith(".") and part not in (".", "..") for part in (*folders, name))
    is_mark = name.startswith("_") and "." not in name
    is_written = name.endswith((HELD_OUT_ENDING, TRAINED_ON_ENDING))
    return is_hidden or is_mark or is_written or any(folder in _HELPERS for folder in folders)


def files_below(folder: str) -> list[str]:
    """Return the files in a folder, and in those below it, by their paths from there, sorted.

    Those that are not part of its text are left out.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a-b", "a/b", "a/.c"):
    ...         Path(folder, name).parent.mkdir(exist_ok=True)
    ...         Path(folder, name).touch()
    ...     files_below(folder)
    ['a/b', 'a-b']
    """
    found: list[str] = []
    for at, folders, names in os.walk(folder):
        inside = os.path.relpath(at, folder)
        start = "" if inside == os.curdir else f"{inside}/"
        folders[:] = [each for each in folders if not is_left_out(f"{each}/file")]
        found += [start + name for name in names if not is_left_out(name)]
    return sorted(found, key=lambda path: path.split("/"))
