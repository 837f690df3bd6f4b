"""The wire format of protocol buffers: read untrusted messages, and write small ones."""

from __future__ import annotations

from collections.abc import Iterator

from bpe_core.errors import FormatError

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_MAX_VARINT_LENGTH = 10
Value = int | memoryview


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
