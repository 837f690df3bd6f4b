"""Damage a file's entries rather than its bytes, so that its readers get past the first check.

The result is a well-formed file whose entries repeat, are missing, contradict or overrun each
other, or whose lengths and counts are wrong.
"""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from bpe_core.formats.gguf.gguf_header import MAGIC, parse_gguf
from bpe_core.formats.sentencepiece_model import LENGTH, VARINT, field, fields, fixed32

# Ids, counts and lengths at the limits of types, and far beyond those of any real file.
_NUMBERS: Final = (
    -1,
    0,
    1,
    255,
    256,
    10**6,
    2_000_001,
    10**9,
    2**31 - 1,
    2**31,
    2**32,
    2**63 - 1,
    2**64 - 1,
    10**30,
    -(2**63),
)
_OTHERS: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0.5,
    float("nan"),
    float("inf"),
    -1e308,
    "",
    "\0",
    "\ud800",
    "a b",
    "Ġ",
    "<unk>",
    "▁",
    "##",
    "<0xE2>",
    "a" * 3_000,
    [],
    {},
    [[]],
    {"": {}},
    [None] * 3,
)
_Change = Callable[[list[Any], random.Random], None]


def restructured(data: bytes, rng: random.Random) -> bytes:
    """Return a file of a known format with one to three of its entries, counts or lengths damaged.

    >>> restructured(b"YQ== 0\\nYg== 1\\n", random.Random(0))
    b'YQ== 0\\nAAA= 256 x\\n'
    """
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = _damaged(data, rng)
    return data


def _damaged(data: bytes, rng: random.Random) -> bytes:
    try:
        if data[:4] == MAGIC:
            return _gguf(data, rng)
        if data[:4] == b"PK\x03\x04":
            return _zip(data, rng)
        if data[:6] == b"\x93NUMPY":
            return _array(data, rng)
        if data[:1] == b"{":
            return _json(data, rng)
        if data[:1] == b"\n":
            return _proto(data, rng)
        return _lines(data, rng)
    except Exception:
        # Earlier damage has left data that is no longer in its format.
        return data[: rng.randrange(len(data) + 1)]


def _repeat(entries: list[Any], rng: random.Random) -> None:
    entries.insert(rng.randrange(len(entries) + 1), rng.choice(entries))


def _delete(entries: list[Any], rng: random.Random) -> None:
    at = rng.randrange(len(entries))
    del entries[at : at + rng.choice((1, 1, 7))]


def _swap(entries: list[Any], rng: random.Random) -> None:
    first, second = rng.randrange(len(entries)), rng.randrange(len(entries))
    entries[first], entries[second] = entries[second], entries[first]


def _turn(entries: list[Any], rng: random.Random) -> None:
    if rng.random() < 0.5:
        entries.reverse()
    else:
        rng.shuffle(entries)


def _grow(entries: list[Any], rng: random.Random) -> None:
    entries += [rng.choice(entries)] * 3_000


_CHANGES: Final[Sequence[_Change]] = (_repeat, _delete, _swap, _turn, _grow)


def _value(old: Any, others: Sequence[Any], rng: random.Random) -> Any:
    """Return a value to replace `old`: a sibling, an extreme number, a variant, or another type."""
    match rng.randrange(4):
        case 0:
            return rng.choice(others)
        case 1:
            return rng.choice(_NUMBERS)
        case 2 if isinstance(old, int) and not isinstance(old, bool):
            return old + rng.choice((-1, 1, 256))
        case 2 if isinstance(old, str):
            return rng.choice((old * 2, old[1:], old + " ", old[::-1], f"{old} {old}"))
        case 2 if isinstance(old, list):
            return [*old, *old]
        case _:
            return rng.choice(_OTHERS)


def _json(data: bytes, rng: random.Random) -> bytes:
    inside: Any = (whole := json.loads(data))
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            break
        deeper = [key for key in keys if isinstance(inside[key], (dict, list)) and inside[key]]
        if deeper and rng.random() < 0.8:
            inside = inside[rng.choice(deeper)]
            continue
        if len(keys) > 1 and rng.random() < 0.5:
            _change_container(inside, rng)
        else:
            key = rng.choice(keys)
            inside[key] = _value(inside[key], [inside[other] for other in keys], rng)
        break
    written = json.dumps(whole).encode()
    if rng.random() < 0.1:  # a key twice, which a dict cannot hold
        at = written.find(b"{", rng.randrange(len(written)))
        first = written[at + 1 : written.find(b",", at) + 1]
        written = written[: at + 1] + first + written[at + 1 :]
    return written


def _change_container(inside: Any, rng: random.Random) -> None:
    change = rng.choice(_CHANGES)
    if isinstance(inside, list):
        change(inside, rng)
        return
    # In an object, change either the keys or the values.
    keys, values = list(inside), list(inside.values())
    change(rng.choice((keys, values)), rng)
    inside.clear()
    inside.update(zip(keys, values, strict=False))


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    if rng.random() < 0.5:
        rng.choice(_CHANGES)(lines, rng)
        return b"\n".join(lines)
    at = rng.randrange(len(lines))
    first, _, second = lines[at].partition(b" ")
    match rng.randrange(6):
        case 0:
            second = str(rng.choice(_NUMBERS)).encode()
        case 1:
            second = rng.choice(lines).partition(b" ")[2]
        case 2:
            first = rng.choice(lines).partition(b" ")[0]
        case 3:
            first = b64encode(bytes(rng.choice((1, 2, 900))))
        case 4:
            second += rng.choice((b"\r", b" x", b"\t", "²".encode(), b".5", b"e3"))
        case _:
            first = rng.choice((b"", first * 2, first.rstrip(b"="), b"-_-_", first[::-1]))
    lines[at] = first + b" " + second
    return b"\n".join(lines)


def _gguf(data: bytes, rng: random.Random) -> bytes:
    keys: dict[str, Any] = dict(parse_gguf(data))
    name = rng.choice(list(keys))
    value = keys[name]
    listed = isinstance(value, list) and len(value) > 1
    if listed and rng.random() < 0.6:
        rng.choice(_CHANGES)(value, rng)
    elif listed:
        at = rng.randrange(len(value))
        value[at] = _value(value[at], value, rng)
    elif rng.random() < 0.3:
        del keys[name]
    else:
        keys[name] = _value(value, list(keys.values()), rng)
    n_keys = len(keys) if rng.random() < 0.9 else rng.choice(_NUMBERS)
    written = [MAGIC, struct.pack("<IQQ", 3, 0, n_keys & (2**64 - 1))]
    for key, value in keys.items():
        written += [_gguf_text(key, rng), _gguf_value(value, rng)]
        if rng.random() < 0.01:
            written += written[-2:]
    return b"".join(written)


def _gguf_text(text: str, rng: random.Random) -> bytes:
    encoded = text.encode(errors="surrogatepass")
    return _gguf_length(len(encoded), rng, 0.0003) + encoded


def _gguf_length(length: int, rng: random.Random, share_of_lies: float) -> bytes:
    if rng.random() < share_of_lies:
        length = rng.choice((length + 1, max(0, length - 1), *_NUMBERS))
    return struct.pack("<Q", length & (2**64 - 1))


def _gguf_value(value: Any, rng: random.Random) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<Iq", 11, max(-(2**63), min(value, 2**63 - 1)))
        case float():
            return struct.pack("<If", 6, max(-3e38, min(value, 3e38)))
        case list() if value and all(isinstance(each, str) for each in value):
            texts = [_gguf_text(each, rng) for each in value]
            return struct.pack("<II", 9, 8) + _gguf_length(len(value), rng, 0.03) + b"".join(texts)
        case list():
            numbers = [each if isinstance(each, (int, float)) else 0 for each in value]
            if any(isinstance(each, float) for each in numbers):
                packed = np.array(numbers, np.float32).tobytes()
                return struct.pack("<II", 9, 6) + _gguf_length(len(numbers), rng, 0.03) + packed
            whole = np.array([int(each) & 0xFFFFFFFF for each in numbers], np.uint32).tobytes()
            return struct.pack("<II", 9, 4) + _gguf_length(len(numbers), rng, 0.03) + whole
        case _:
            return struct.pack("<I", 8) + _gguf_text(str(value), rng)


def _proto(data: bytes, rng: random.Random) -> bytes:
    entries = [
        (number, kind, bytes(value) if isinstance(value, memoryview) else value)
        for number, kind, value, _ in fields(memoryview(data))
    ]
    if rng.random() < 0.4:
        rng.choice(_CHANGES)(entries, rng)
        return b"".join(_proto_field(entry, rng, 0.0) for entry in entries)
    at = rng.randrange(len(entries)) if rng.random() < 0.5 else rng.randrange(-3, 0)
    number, kind, value = entries[at]
    if kind == LENGTH and isinstance(value, bytes) and rng.random() < 0.7:
        inner = [
            (n, k, bytes(v) if isinstance(v, memoryview) else v)
            for n, k, v, _ in fields(memoryview(value))
        ]
        which = rng.randrange(len(inner))
        inner[which] = _proto_changed(inner[which], rng)
        value = b"".join(_proto_field(each, rng, 0.1) for each in inner)
    entries[at] = (number, kind, value)
    return b"".join(
        _proto_field(entry, rng, 0.3 if place == at % len(entries) else 0.0)
        for place, entry in enumerate(entries)
    )


def _proto_changed(entry: tuple[int, int, Any], rng: random.Random) -> tuple[int, int, Any]:
    number, kind, value = entry
    if rng.random() < 0.2:
        return rng.choice((0, 1, 2, 3, 9, 2**29)), kind, value
    if kind == VARINT:
        return number, kind, rng.choice([each for each in _NUMBERS if each >= 0])
    if kind == LENGTH:
        text = rng.choice([each for each in _OTHERS if isinstance(each, str)])
        return number, kind, text.encode(errors="surrogatepass")
    score = rng.choice((float("nan"), float("inf"), float("-inf"), -1e30, 0.0))
    return number, kind, struct.pack("<f", score)[: len(value)]


def _proto_field(entry: tuple[int, int, Any], rng: random.Random, share_of_lies: float) -> bytes:
    number, kind, value = entry
    if kind == VARINT:
        return field(number, value)
    if kind == LENGTH:
        written = field(number, value)
        if value and rng.random() < share_of_lies:
            lie = rng.choice([each for each in _NUMBERS if each >= 0])
            return field(number << 3 | LENGTH, 0)[:0] + _lying(number, lie) + value
        return written
    return fixed32(number, value) if len(value) == 4 else b""


def _lying(number: int, length: int) -> bytes:
    """Return the key of a field, followed by a wrong length."""
    # A varint's field is its key and its value; the lowest bits of the key hold its kind.
    written = bytearray(field(number, length))
    written[0] |= LENGTH
    return bytes(written)


def _array(data: bytes, rng: random.Random) -> bytes:
    array = np.load(io.BytesIO(data), allow_pickle=False)
    if array.dtype == np.uint8 and array[:1] == b"{"[0]:
        array = np.frombuffer(_json(array.tobytes(), rng), np.uint8)
        return _npy(array)
    match rng.randrange(5):
        case 0:
            entries = array.tolist()
            rng.choice(_CHANGES)(entries, rng)
            return _npy(np.array(entries, array.dtype))
        case 1:
            array = array.copy()
            limits = np.iinfo(array.dtype)
            lie = max(limits.min, min(rng.choice(_NUMBERS), limits.max))
            array[rng.randrange(len(array))] = lie
            return _npy(array)
        case 2:
            return _npy(array.astype(rng.choice((np.int8, np.int32, np.float64, np.bool_, ">i8"))))
        case 3:
            return _npy(array.reshape(rng.choice(((1, -1), (-1, 1), (-1, 1, 1)))))
        case _:
            # The header states the number of entries as text, which is replaced by a wrong number.
            lie = str(rng.choice(_NUMBERS)).encode()
            at = data.find(b"(", data.find(b"shape")) + 1
            end = data.find(b",", at)
            return data[:at] + lie + data[end : 128 - len(lie) + end - at] + data[128:]


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _zip(data: bytes, rng: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(member.filename, archive.read(member)) for member in archive.infolist()]
    if rng.random() < 0.2:
        rng.choice((_repeat, _delete, _swap))(members, rng)
    elif rng.random() < 0.1:
        at = rng.randrange(len(members))
        name = rng.choice(("../../a.json", "/etc/passwd", "", "a" * 9_000, "\0", "tokenizer.json"))
        members[at] = (name, members[at][1])
    else:
        at = rng.randrange(len(members))
        members[at] = (members[at][0], restructured(members[at][1], rng))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in members:
            archive.writestr(name, member)
    written = buffer.getvalue()
    if rng.random() < 0.1:  # a wrong size in the directory, which follows the last member
        at = written.rfind(b"PK\x01\x02") + rng.choice((16, 20, 24, 28, 42))
        lie = struct.pack("<I", rng.choice(_NUMBERS) & 0xFFFFFFFF)
        written = written[:at] + lie + written[at + 4 :]
    return written
