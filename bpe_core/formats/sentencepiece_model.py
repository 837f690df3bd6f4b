"""SentencePiece's `.model` file: read its description of itself, or write one.

The file is a protocol buffer, `ModelProto` in sentencepiece_model.proto. It is read here before the
library sees it, so a damaged file is refused with the place of the damage.

A damaged field raises an error that names its place: a length that is longer than its message, a
number without an end, or an unknown type.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bpe_core.errors import FormatError
from bpe_core.formats.json_files import check_tokens
from bpe_core.formats.patterns import check_charsmap

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The types of a piece; GGUF numbers its token types alike."""
FILE_NAME: Final = "tokenizer.model"
BYTE_PIECES: Final = {f"<0x{byte:02X}>": bytes([byte]) for byte in range(256)}
"""The byte that each byte piece stands for."""
Kind = Literal["Unigram", "BPE"]
_KINDS: Final = {1: "Unigram", 2: "BPE", 3: "Word", 4: "Char"}
# Field numbers of ModelProto and of the messages in it.
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3
_MODEL_TYPE, _VOCAB_SIZE, _SUFFIX, _BYTE_FALLBACK, _UNKNOWN_PIECE = 3, 4, 24, 35, 45
_NAME, _CHARSMAP, _DUMMY_PREFIX, _EXTRA_SPACES, _ESCAPE = 1, 2, 3, 4, 5
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_MAX_VARINT_LENGTH = 10
Value = int | memoryview


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a vocabulary: its text, with ▁ for a space, its score and its type."""

    text: str
    score: float
    type: int


@dataclass(frozen=True, slots=True)
class SentencePieceModel:
    """A `.model` file's description of itself."""

    pieces: tuple[Piece, ...]
    kind: Kind
    byte_fallback: bool
    normalizer: str
    """The normalizer's name, such as "identity" or "nmt_nfkc"; may be empty."""
    dummy_prefix: bool = True
    """True if it puts a space in front of a text."""
    changes_text: bool = True
    """True if the normalizer changes anything else, or leaves spaces as they are."""


def looks_like_sentencepiece(data: bytes) -> bool:
    r"""Return True if a file begins as SentencePiece's do, with a piece.

    >>> looks_like_sentencepiece(b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02")
    True
    >>> looks_like_sentencepiece(b"\n\nIQ== 0\n")
    False
    """
    head = memoryview(data[:64])
    return (
        len(head) > 4
        and head[0] == 0x0A
        and 2 < head[1] < 0x80
        and head[2] == 0x0A
        and (0 < head[3] <= head[1] - 2)
    )


def read_model(data: bytes) -> SentencePieceModel:
    """Read a `.model` file.

    Raises `FormatError` for lengths that lie, for a piece without text or with an unknown type, for
    duplicate pieces, for a kind of model other than BPE and Unigram, and for a normalizer that
    makes texts much longer.

    >>> pieces = [Piece("<unk>", 0, UNKNOWN), Piece("a", 0, NORMAL), Piece("▁a", -1, NORMAL)]
    >>> read_model(write_model(pieces, "BPE")).pieces[2].text
    '▁a'
    """
    pieces: list[Piece] = []
    place_of: dict[str, int] = {}
    settings: dict[tuple[int, int], Value] = {}
    for number, wire, value, at in fields(memoryview(data)):
        if number == _PIECE:
            check_tokens(len(pieces) + 1, "the model")
            piece = _read_piece(_message(wire, value, at), at)
            if piece.text in place_of:
                raise FormatError(
                    f"The pieces {place_of[piece.text]:,} and {len(pieces):,} are both "
                    f"{piece.text!r:.60} (byte {at:,})."
                )
            place_of[piece.text] = len(pieces)
            pieces.append(piece)
        elif number in (_TRAINER, _NORMALIZER):
            for inner, _, setting, _ in fields(_message(wire, value, at), at):
                settings[number, inner] = setting
    if not pieces:
        raise FormatError("The model has no pieces. Use the .model file as it was saved.")
    unknown = [place for place, piece in enumerate(pieces) if piece.type == UNKNOWN]
    if len(unknown) != 1:
        raise FormatError(f"Expected one unknown piece, such as <unk>, found {len(unknown)}.")
    kind = settings.get((_TRAINER, _MODEL_TYPE), 1)
    named = _KINDS.get(kind, str(kind)) if isinstance(kind, int) else "Unigram"
    if named not in ("Unigram", "BPE"):
        raise FormatError(f"Expected a BPE or Unigram model, got the model type {named}.")
    charsmap = _bytes(settings.get((_NORMALIZER, _CHARSMAP)))
    check_charsmap(charsmap)
    removes = settings.get((_NORMALIZER, _EXTRA_SPACES), 1)
    escapes = settings.get((_NORMALIZER, _ESCAPE), 1)
    return SentencePieceModel(
        tuple(pieces),
        named,
        bool(settings.get((_TRAINER, _BYTE_FALLBACK))),
        _bytes(settings.get((_NORMALIZER, _NAME))).decode(errors="replace"),
        bool(settings.get((_NORMALIZER, _DUMMY_PREFIX), 1)),
        bool(charsmap or removes or settings.get((_TRAINER, _SUFFIX)) or not escapes),
    )


def write_model(
    pieces: Sequence[Piece],
    kind: Kind,
    *,
    dummy_prefix: bool = True,
    remove_extra_spaces: bool = False,
    charsmap: bytes = b"",
) -> bytes:
    """Return a `.model` file; it has byte fallback if a piece is of the type for bytes."""
    written = bytearray()
    for piece in pieces:
        written += _written_piece(piece)
    fallback = any(piece.type == BYTE for piece in pieces)
    model_type = next(number for number, name in _KINDS.items() if name == kind)
    trainer = field(_MODEL_TYPE, model_type) + field(_VOCAB_SIZE, len(pieces))
    trainer += field(_BYTE_FALLBACK, int(fallback))
    for piece in pieces:
        if piece.type == UNKNOWN:
            trainer += field(_UNKNOWN_PIECE, piece.text.encode())
    normalizer = (
        field(_NAME, b"nmt_nfkc" if charsmap else b"identity")
        + field(_CHARSMAP, charsmap)
        + field(_DUMMY_PREFIX, int(dummy_prefix))
        + field(_EXTRA_SPACES, int(remove_extra_spaces))
        + field(_ESCAPE, 1)
    )
    return bytes(written) + field(_TRAINER, trainer) + field(_NORMALIZER, normalizer)


def replace_pieces(data: bytes, pieces: Sequence[int | Piece]) -> bytes:
    """Return a `.model` file with other pieces, and everything else in it unchanged.

    A number stands for that piece of the file, to the byte. Raises what `read_model` raises.

    >>> data = write_model([Piece("<unk>", 0, UNKNOWN), Piece("a", 0, NORMAL)], "BPE")
    >>> read_model(replace_pieces(data, [0, Piece("b", -1, NORMAL)])).pieces[1].text
    'b'
    """
    found = [(number, at) for number, _, _, at in fields(memoryview(data))]
    ends = [*(at for _, at in found[1:]), len(data)]
    spans = [(number, data[at:end]) for (number, at), end in zip(found, ends, strict=True)]
    old = [span for number, span in spans if number == _PIECE]
    new = [old[each] if isinstance(each, int) else _written_piece(each) for each in pieces]
    first = next((at for at, (number, _) in enumerate(spans) if number == _PIECE), 0)
    before = [span for _, span in spans[:first]]
    after = [span for number, span in spans[first:] if number != _PIECE]
    return b"".join([*before, *new, *after])


def _written_piece(piece: Piece) -> bytes:
    inner = field(1, piece.text.encode()) + fixed32(2, struct.pack("<f", piece.score))
    return field(_PIECE, inner + field(3, piece.type))


def _read_piece(message: memoryview, at: int) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for number, wire, value, _ in fields(message, at):
        if number == 1 and wire == LENGTH and isinstance(value, memoryview):
            try:
                text = bytes(value).decode()
            except UnicodeDecodeError:
                raise FormatError(
                    f"The text of the piece at byte {at:,} is not valid UTF-8."
                ) from None
        elif number == 2 and wire == FIXED32 and isinstance(value, memoryview):
            (score,) = struct.unpack("<f", value)
        elif number == 3 and wire == VARINT and isinstance(value, int):
            kind = value
    if not text:
        raise FormatError(f"The piece at byte {at:,} has no text.")
    if not NORMAL <= kind <= BYTE:
        raise FormatError(f"The piece {text!r:.60} at byte {at:,} has the unknown type {kind}.")
    if not math.isfinite(score):
        raise FormatError(f"The piece {text!r:.60} at byte {at:,} has the score {score}.")
    return Piece(text, score, kind)


def _bytes(value: Value | None) -> bytes:
    return bytes(value) if isinstance(value, memoryview) else b""


def _message(wire: int, value: Value, at: int) -> memoryview:
    if wire != LENGTH or not isinstance(value, memoryview):
        raise FormatError(f"Expected a message at byte {at:,}. Is this a SentencePiece model?")
    return value


def fields(message: memoryview, at: int = 0) -> Iterator[tuple[int, int, Value, int]]:
    """Yield each field of a message as (number, wire type, value, its offset in the file).

    The value of a varint is an int, and that of any other field a view of its bytes. `at` is the
    message's own offset in the file. Raises `FormatError` for a field that is cut short, is longer
    than the message, or is of no known type.

    >>> [(number, value) for number, _, value, _ in fields(memoryview(b"\\x08\\x96\\x01"))]
    [(1, 150)]
    >>> list(fields(memoryview(b"\\x0a\\x7fab")))
    Traceback (most recent call last):
    bpe_core.errors.FormatError: The field at byte 0 announces 127 bytes, and 2 are left.
    """
    place, size = 0, len(message)
    while place < size:
        start = place
        key, place = _varint(message, place, at)
        kind = key & 7
        if kind == VARINT:
            value, place = _varint(message, place, at)
            yield key >> 3, kind, value, at + start
            continue
        if kind == LENGTH:
            length, place = _varint(message, place, at)
        elif kind in (FIXED32, FIXED64):
            length = 4 if kind == FIXED32 else 8
        else:
            raise FormatError(f"Byte {at + start:,} does not begin a field of a protocol buffer.")
        if length > size - place:
            raise FormatError(
                f"The field at byte {at + start:,} announces {length:,} bytes, and "
                f"{size - place:,} are left."
            )
        yield key >> 3, kind, message[place : place + length], at + start
        place += length


def field(number: int, value: int | bytes) -> bytes:
    r"""Return a field as bytes: a varint, or a value with its length.

    >>> field(1, 150), field(2, b"hug")
    (b'\x08\x96\x01', b'\x12\x03hug')
    """
    if isinstance(value, int):
        return _written(number << 3) + _written(value)
    return _written(number << 3 | LENGTH) + _written(len(value)) + value


def fixed32(number: int, value: bytes) -> bytes:
    """Return a field of four bytes, such as a float."""
    return _written(number << 3 | FIXED32) + value


def _written(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _varint(message: memoryview, place: int, at: int) -> tuple[int, int]:
    value = 0
    for n in range(_MAX_VARINT_LENGTH):
        if place + n >= len(message):
            raise FormatError(f"The file ends within a number at byte {at + place:,}.")
        byte = message[place + n]
        value |= (byte & 0x7F) << (7 * n)
        if byte < 0x80:
            return value, place + n + 1
    raise FormatError(f"The number at byte {at + place:,} has no end.")
