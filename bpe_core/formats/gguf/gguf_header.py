"""Read what a GGUF file says about its tokenizer, from a file of any size.

A GGUF file begins with keys and values and ends with the tensors. Only the values whose keys begin
with "tokenizer." are read; the rest is skipped, and the tensors are never touched. A file on disk
is mapped into memory, so only the pages with keys and values are loaded.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bpe_core.errors import FormatError

MAGIC: Final = b"GGUF"
MAX_ENTRIES: Final = 2_000_000
"""The longest array read; the largest vocabularies in use have half a million merges."""
_MAX_KEYS: Final = 65_536
_MAX_KEY_LENGTH: Final = 65_535
_PREFIX: Final = b"tokenizer."
# Value types 0 to 12, except strings (8) and arrays (9).
SCALARS: Final[Mapping[int, struct.Struct]] = {
    kind: struct.Struct("<" + code)
    for kind, code in zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True)
}
STRING, ARRAY = 8, 9
_LENGTH: Final = struct.Struct("<Q")
HEADER: Final = struct.Struct("<4sIQQ")
"""GGUF, the version, the numbers of tensors and of keys."""
_MAX_KEY_BYTES: Final = 256_000_000

GgufValue = int | float | bool | str | list[str] | list[int] | list[float]


def looks_like_gguf(data: bytes) -> bool:
    """Return True if a file begins as GGUF files do.

    >>> looks_like_gguf(b"GGUF\\x03\\x00\\x00\\x00"), looks_like_gguf(b"{}")
    (True, False)
    """
    return data[:4] == MAGIC


def without_tensors(data: bytes | memoryview) -> bytes:
    """Return a GGUF file that has the same keys and no tensors.

    Raises `FormatError` for a damaged file, and for more than 256 MB of keys.

    >>> without_tensors(b"GGUF" + bytes([3, 0, 0, 0, 1]) + bytes(15) + b"tensors")[8:]
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'
    """
    _, places = key_places(data)
    end = places[-1].end if places else HEADER.size
    if end > _MAX_KEY_BYTES:
        raise FormatError(
            f"The keys of the GGUF file take {end:,} bytes; at most {_MAX_KEY_BYTES:,} are read."
        )
    magic, version, _, n_keys = HEADER.unpack_from(data)
    return HEADER.pack(magic, version, 0, n_keys) + bytes(data[HEADER.size : end])


def parse_gguf(data: bytes | memoryview) -> dict[str, GgufValue]:
    """Return the keys that begin with "tokenizer." with their values.

    Raises `FormatError` for a file cut short, for a length that the file cannot hold, for an
    unknown version or type of value, for a key that occurs twice, and for text that is not UTF-8.

    >>> parse_gguf(b"GGUF" + bytes([3, 0, 0, 0]) + bytes(8) + b"\\xff" * 8)
    Traceback (most recent call last):
    bpe_core.errors.FormatError: The GGUF file announces 18,446,744,073,709,551,615 keys at byte \
16; expected at most 65,536. The file is damaged.
    """
    reader, _, n_keys = _opened(data)
    found: dict[str, GgufValue] = {}
    for _ in range(n_keys):
        start = reader.at
        key = bytes(reader.string(_MAX_KEY_LENGTH))
        kind = reader.number("I")
        if not key.startswith(_PREFIX):
            reader.skip(kind)
            continue
        name = _text(key, start)
        if name in found:
            raise FormatError(f"The key {name!r:.80} at byte {start:,} occurs twice.")
        found[name] = reader.value(kind)
    return found


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """The places of a key and its value in a file."""

    name: bytes
    start: int
    kind_at: int
    """Where the type of the value begins, which the value follows."""
    end: int


def key_places(data: bytes | memoryview) -> tuple[int, list[KeyPlace]]:
    """Return the number of tensors, and the place of each key, in the file's order.

    Raises `FormatError` as `parse_gguf` does, but reads no text of a value.

    >>> key_places(b"GGUF" + bytes([3, 0, 0, 0]) + bytes(16))
    (0, [])
    """
    reader, n_tensors, n_keys = _opened(data)
    places: list[KeyPlace] = []
    for _ in range(n_keys):
        start = reader.at
        name = bytes(reader.string(_MAX_KEY_LENGTH))
        kind_at = reader.at
        reader.skip(reader.number("I"))
        places.append(KeyPlace(name, start, kind_at, reader.at))
    return n_tensors, places


def value_at(data: bytes | memoryview, place: KeyPlace) -> GgufValue:
    """Return the value of a key that `key_places` found; raises what `parse_gguf` raises."""
    reader = _Reader(memoryview(data), place.kind_at)
    return reader.value(reader.number("I"))


def pack_value(kind: int, element: int, value: Any) -> bytes:
    """Return a value in its type, with that type before it; `element` is that of an array's parts.

    Raises struct.error for a number that does not fit.

    >>> pack_value(ARRAY, 0, [7, 8])
    b'\\t\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07\\x08'
    """
    if kind == STRING:
        return struct.pack("<I", kind) + pack_text(value)
    if kind != ARRAY:
        return struct.pack("<I", kind) + SCALARS[kind].pack(value)
    head = struct.pack("<IIQ", kind, element, len(value))
    if element == STRING:
        return head + b"".join(map(pack_text, value))
    return head + struct.pack(f"<{len(value)}{SCALARS[element].format[1:]}", *value)


def pack_text(text: str) -> bytes:
    """Return a text with its length before it.

    >>> pack_text("hug")
    b'\\x03\\x00\\x00\\x00\\x00\\x00\\x00\\x00hug'
    """
    written = text.encode()
    return _LENGTH.pack(len(written)) + written


def _opened(data: bytes | memoryview) -> tuple[_Reader, int, int]:
    """Return a reader of the first key, and the numbers of tensors and of keys."""
    reader = _Reader(memoryview(data))
    if bytes(reader.view[:4]) != MAGIC:
        raise FormatError("The file does not begin with GGUF.")
    reader.at = 4
    version = reader.number("I")
    if version not in (2, 3):
        big = " It is written for big-endian machines." if version in (2 << 24, 3 << 24) else ""
        raise FormatError(f"Expected GGUF version 2 or 3, got {version}.{big}")
    n_tensors = reader.number("Q")
    n_keys = reader.number("Q")
    if n_keys > _MAX_KEYS:
        raise FormatError(
            f"The GGUF file announces {n_keys:,} keys at byte {reader.at - 8:,}; expected "
            f"at most {_MAX_KEYS:,}. The file is damaged."
        )
    return reader, n_tensors, n_keys


@dataclass(slots=True)
class _Reader:
    view: memoryview
    at: int = 0

    def number(self, code: str) -> int:
        size = struct.calcsize("<" + code)
        self.need(size)
        (value,) = struct.unpack_from("<" + code, self.view, self.at)
        self.at += size
        return value

    def need(self, n_bytes: int) -> None:
        left = len(self.view) - self.at
        if n_bytes > left:
            raise FormatError(
                f"The GGUF file is cut short: {n_bytes:,} bytes are announced at byte {self.at:,}, "
                f"and {left:,} are left. Download it again."
            )

    def string(self, longest: int | None = None) -> memoryview:
        length = self.number("Q")
        if longest is not None and length > longest:
            raise FormatError(
                f"The key at byte {self.at - 8:,} announces {length:,} bytes. The file is damaged."
            )
        self.need(length)
        self.at += length
        return self.view[self.at - length : self.at]

    def array(self) -> tuple[int, int]:
        """Return the type and number of an array's elements, which the file can hold."""
        start = self.at
        kind, n = self.number("I"), self.number("Q")
        if kind != STRING and kind not in SCALARS:
            raise FormatError(f"The array at byte {start:,} has elements of unknown type {kind}.")
        self.need(n * (8 if kind == STRING else SCALARS[kind].size))
        return kind, n

    def strings(self, n: int) -> list[str]:
        """Read strings in one loop: a vocabulary and its merges are half a million of them."""
        view, at, end = self.view, self.at, len(self.view)
        length_at = _LENGTH.unpack_from
        found: list[str] = []
        length = 0
        try:
            for _ in range(n):
                (length,) = length_at(view, at)
                at += 8
                if length > end - at:
                    break
                found.append(str(view[at : at + length], "utf-8"))
                at += length
        except UnicodeDecodeError:
            raise FormatError(f"The text at byte {at:,} is not valid UTF-8.") from None
        except struct.error:
            self.at = at
            self.need(8)
        self.at = at
        if len(found) < n:
            self.need(length)
        return found

    def skip_strings(self, n: int) -> None:
        """Skip strings in one loop, as `strings` reads them."""
        view, at, end = self.view, self.at, len(self.view)
        length_at = _LENGTH.unpack_from
        for _ in range(n):
            at += 8
            if at > end:
                break
            at += length_at(view, at - 8)[0]
        self.need(at - self.at)
        self.at = at

    def skip(self, kind: int) -> None:
        if kind == STRING:
            self.string()
        elif kind == ARRAY:
            element, n = self.array()
            if element == STRING:
                self.skip_strings(n)
            else:
                self.at += n * SCALARS[element].size
        else:
            size = self.scalar(kind).size
            self.need(size)
            self.at += size

    def value(self, kind: int) -> GgufValue:
        start = self.at
        if kind == STRING:
            return _text(self.string(), start)
        if kind != ARRAY:
            layout = self.scalar(kind)
            self.need(layout.size)
            (value,) = layout.unpack_from(self.view, self.at)
            self.at += layout.size
            return value
        element, n = self.array()
        if n > MAX_ENTRIES:
            raise FormatError(
                f"The array at byte {start:,} has {n:,} entries; at most {MAX_ENTRIES:,} are read."
            )
        if element == STRING:
            return self.strings(n)
        layout = struct.Struct(f"<{n}{SCALARS[element].format[1:]}")
        values: list[Any] = list(layout.unpack_from(self.view, self.at))
        self.at += layout.size
        return values

    def scalar(self, kind: int) -> struct.Struct:
        if kind not in SCALARS:
            raise FormatError(
                f"The value at byte {self.at:,} has the unknown type {kind}. The file is damaged, "
                f"or newer than this reader."
            )
        return SCALARS[kind]


def _text(data: bytes | memoryview, at: int) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"The text at byte {at:,} is not valid UTF-8.") from None


@contextmanager
def mapped(path: Path) -> Generator[memoryview]:
    """Yield the bytes of a file of any size; raise `FormatError` if it is empty."""
    with path.open("rb") as file:
        try:
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise FormatError(f"{path.name} is empty.") from None
        try:
            yield memoryview(mapping)
        finally:
            # An error's traceback may still hold a view; then the map ends with the traceback.
            with suppress(BufferError):
                mapping.close()
