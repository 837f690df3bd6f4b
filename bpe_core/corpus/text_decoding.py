"""Decode a file's bytes to text: find the encoding, or name the byte that is wrong."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, NamedTuple

import numpy as np
import regex

from bpe_core.checks import describe
from bpe_core.corpus.encoding_guess import (
    JUDGED_BYTES,
    guessed_encodings,
    has_controls,
    shown_encoding,
)
from bpe_core.corpus.file_kinds import HEAD_BYTES, other_kind
from bpe_core.corpus.notes import Note
from bpe_core.errors import ConfigError, CorpusError, TextDecodingError, UnsupportedFileError

# UTF-32 before UTF-16: its little-endian mark starts with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Python has these too, but they are for domain names and source code.
_NOT_FOR_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")

_PIECE = 1 << 20
_STRAY_CONTROL = regex.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]")

DecodingErrors = Literal["strict", "replace"]
"""What becomes of bytes that do not fit the encoding: an error, or U+FFFD."""
REPLACEMENT: Final = "\ufffd"
REPLACING: Final = "replace the bytes that do not fit (errors='replace')"
"""How an error offers to replace them."""


class DecodedText(NamedTuple):
    """A file's text, its encoding, and a note if that was guessed or marked."""

    text: str
    encoding: str
    note: Note | None


def decode_text(
    data: bytes, name: str, encoding: str | None = None, errors: DecodingErrors = "strict"
) -> DecodedText:
    """Decode a file's bytes by the byte order mark, as UTF-8, or by a guess stated in the note.

    If an encoding is given, it is used instead. A byte order mark at the start is removed; later
    ones are kept, and so are NULs. With `errors="replace"`, bytes that do not fit become U+FFFD,
    which the note counts. Raises UnsupportedFileError if the file is not text,
    TextDecodingError with the offset of the first bad byte and the encodings tried, and
    MissingExtraError if a guess is needed and charset-normalizer is not installed.

    >>> decode_text("hüg".encode("cp1252"), "hug.txt", "cp1252")
    DecodedText(text='hüg', encoding='cp1252', note=None)
    >>> print(decode_text("\\ufeffhug".encode(), "hug.txt").note.text)
    hug.txt: removed the byte order mark.
    """
    if encoding is not None:
        refuse_other_kinds(data, name)
        decoded = _decode_exactly(data, encoding, name, 0, errors)
        return decoded._replace(text=decoded.text.removeprefix("\ufeff"))
    for mark, marked in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            decoded = _decode_exactly(data[len(mark) :], marked, name, len(mark), errors)
            if decoded.note is not None:
                return decoded
            note = "removed the byte order mark"
            if marked != "utf-8":
                note = f"read as {marked}, as its byte order mark says"
            return decoded._replace(note=Note("mark", name, f"{name}: {note}."))
    refuse_other_kinds(data, name)
    if shown := shown_encoding(data[:JUDGED_BYTES]):
        decoded = _decode_exactly(data, shown, name, 0, errors)
        note = f"{name}: read as {shown}, guessed from its bytes."
        return decoded._replace(note=decoded.note or Note("encoding", name, note, shown))
    refuse_controls(data, name)
    try:
        return DecodedText(data.decode(), "utf-8", None)
    except UnicodeDecodeError as error:
        return _decode_legacy(data, name, error.start, errors)


def check_encoding(encoding: str) -> None:
    """Raise ConfigError for an encoding that Python does not know or that is not for text.

    >>> check_encoding("cp1252")
    >>> check_encoding("latin")
    >>> check_encoding("wingdings")
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Expected the name of an encoding, such as 'utf-8' or 'cp1252', \
got 'wingdings' (str).
    """
    try:
        # A LookupError, too, if the encoding is not for text: Python has "hex" and "rot13".
        b"a".decode(encoding, "replace")
        known = codecs.lookup(encoding).name not in _NOT_FOR_FILES
    except (LookupError, ValueError):
        known = False
    if not known:
        raise ConfigError(
            "Expected the name of an encoding, such as 'utf-8' or 'cp1252', got "
            f"{describe(encoding)}."
        )


def _decode_exactly(
    data: bytes, encoding: str, name: str, shift: int, errors: DecodingErrors
) -> DecodedText:
    try:
        return DecodedText(data.decode(encoding), encoding, None)
    except UnicodeDecodeError as error:
        offset = error.start + shift
        if errors == "replace":
            return _replaced(data, encoding, name, offset, data[error.start])
        raise TextDecodingError(
            f"{name} should be {encoding}, but is not at byte {offset:,} "
            f"(0x{data[error.start]:02X}). Name another encoding, save it again as UTF-8, or "
            f"{REPLACING}."
        ) from None


def _replaced(data: bytes, encoding: str, name: str, offset: int, first: int) -> DecodedText:
    text = data.decode(encoding, "replace")
    # U+FFFD that was in the file is not counted.
    n = text.count(REPLACEMENT) - data.decode(encoding, "ignore").count(REPLACEMENT)
    places = "1 place" if n == 1 else f"{n:,} places"
    note = (
        f"{name}: replaced bytes that are not valid {encoding} with U+FFFD in {places}; the first "
        f"is 0x{first:02X} at byte {offset:,}."
    )
    return DecodedText(text, encoding, Note("replaced", name, note))


def refuse_other_kinds(data: bytes, name: str) -> None:
    """Raise UnsupportedFileError for what is not text by its first bytes, such as a picture."""
    if found := other_kind(data[:HEAD_BYTES], name):
        raise UnsupportedFileError(f"{name} is {found.what}, not text. {found.remedy}")


def refuse_controls(data: bytes, name: str) -> None:
    """Raise UnsupportedFileError for bytes of which many are control characters.

    >>> refuse_controls(bytes(9), "a.bin")
    Traceback (most recent call last):
    bpe_core.errors.UnsupportedFileError: a.bin is not text: 9 of its 9 bytes are NUL. Give a text \
file.
    """
    nuls = data.count(0)
    if nuls and has_controls(data):
        raise UnsupportedFileError(
            f"{name} is not text: {nuls:,} of its {len(data):,} bytes are NUL. Give a text file."
        )


def _decode_legacy(data: bytes, name: str, first_bad: int, errors: DecodingErrors) -> DecodedText:
    valid, invalid = _utf8_sequences(data)
    tried = ["utf-8"]
    # Other encodings almost never form UTF-8 sequences by accident: a file with many of them is
    # damaged UTF-8, and any other reading would be mojibake.
    if valid <= invalid:
        for encoding in guessed_encodings(data, name):
            tried.append(encoding)
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            if _STRAY_CONTROL.search(text):
                continue
            note = (
                f"{name}: read as {encoding}, a guess: it is not valid UTF-8 at byte {first_bad:,} "
                f"(0x{data[first_bad]:02X}). Tried in order: {', '.join(tried)}. "
                "If the text looks wrong, name its encoding, or save it as UTF-8."
            )
            return DecodedText(text, encoding, Note("encoding", name, note, encoding))
    if errors == "replace":
        return _replaced(data, "utf-8", name, first_bad, data[first_bad])
    line = data.count(b"\n", 0, first_bad) + 1
    raise TextDecodingError(
        f"{name} is not text in any encoding tried ({', '.join(tried)}): the first byte that is "
        f"not UTF-8 is 0x{data[first_bad]:02X} at byte {first_bad:,}, line {line:,}. "
        f"Name its encoding, save it again as UTF-8, or {REPLACING}."
    )


def _utf8_sequences(data: bytes) -> tuple[int, int]:
    """Count the complete UTF-8 sequences beyond ASCII, and the bytes that belong to none."""
    text = data.decode(errors="surrogateescape")
    invalid = beyond_ascii = 0
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE].encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(piece, "<u4")
        invalid += int(np.count_nonzero((codes >= 0xDC80) & (codes <= 0xDCFF)))
        beyond_ascii += int(np.count_nonzero(codes > 0x7F))
    return beyond_ascii - invalid, invalid


def whole_characters(data: bytes) -> tuple[bytes, bytes]:
    """Split off a character that continues in the next piece.

    >>> whole_characters("né".encode()[:2])
    (b'n', b'\\xc3')
    """
    for back in range(1, min(3, len(data)) + 1):
        if data[-back] >= 0xC0:
            width = 2 if data[-back] < 0xE0 else 3 if data[-back] < 0xF0 else 4
            return (data[:-back], data[-back:]) if width > back else (data, b"")
        if data[-back] < 0x80:
            break
    return data, b""


def read_pieces(
    file: BinaryIO, name: str, size: int, begin: int, end: int
) -> Iterator[tuple[int, bytes]]:
    r"""Yield a file of `size` bytes in pieces that end between characters, each with its place.

    They go from `begin`, where the file is, to `end`, or to the end of the file if that is -1. The
    last piece is cut within a character if the text is. Raises CorpusError if the file has shrunk.

    >>> from io import BytesIO
    >>> list(read_pieces(BytesIO(b"n\xc3\xa9\xc3"), "a.txt", 4, 0, -1))
    [(0, b'n\xc3\xa9'), (3, b'\xc3')]
    """
    at = n_read = begin
    rest = b""
    while end < 0 or n_read < end:
        data = file.read(_PIECE if end < 0 else min(_PIECE, end - n_read))
        if not data:
            if end < 0:
                break
            raise CorpusError(
                f"{name} had {size:,} bytes and now has {n_read:,}. Try again once it has stopped "
                "changing."
            )
        n_read += len(data)
        piece, rest = whole_characters(rest + data)
        yield at, piece
        at += len(piece)
    if rest:
        yield at, rest


def decoded(piece: bytes, name: str, at: int, where: str = "") -> str:
    """Return a piece of a file as text; raise TextDecodingError with its place if it is not UTF-8.

    The piece begins at byte `at`; `where` follows the place in the message.

    >>> decoded("né".encode(), "a.txt", 0)
    'né'
    """
    try:
        return piece.decode()
    except UnicodeDecodeError as error:
        raise TextDecodingError(
            f"{name} is not valid UTF-8 at byte {at + error.start:,}{where} "
            f"(0x{piece[error.start]:02X}). Save it again as UTF-8, or {REPLACING}."
        ) from None
