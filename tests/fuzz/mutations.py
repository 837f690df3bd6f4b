"""Damage valid files in the ways that find most faults in readers."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

# Numbers at the limits of types, wrong lengths, and syntax of the formats.
_TELLING: Final = (
    b"",
    b"\0",
    b"\xff",
    b"\x80",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\r",
    b"\n",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
    b"\xff" * 8,
    b"\0" * 64,
    b"-1",
    b"0",
    b"1e999",
    b"NaN",
    b"99999999999999999999",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b'"',
    b"\\",
    b"\\ud800",
    b",",
    b":",
    b"[" * 600,
    b'{"a":' * 300,
    b"<unk>",
    b"\xe2\x96\x81",
)
_MAX_BYTES: Final = 1 << 20
_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    0,
    256,
    2**31,
    2**63,
    10**30,
    1e308,
    float("nan"),
    "",
    "\0",
    "\ud800",
    "a b",
    "x" * 5_000,
    [],
    {},
    [[]],
    [None],
    {"": {}},
    [0] * 3,
    ["a", "b"],
    {"a": 0},
)


def mutated(seed: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Return a file with one to six damaged places, or for JSON, half of the time, other values.

    >>> mutated(b"hugging", [b"pug"], random.Random(3)) != b"hugging"
    True
    """
    if seed[:1] in (b"{", b"[") and rng.random() < 0.5:
        with suppress(ValueError):  # not one value, but one per line
            return _other_values(json.loads(seed), rng)
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(data) + 1)
        length = min(rng.choice((1, 1, 2, 4, 8, 64, 1_000)), len(data) - at)
        match rng.randrange(8):
            case 0 if data:
                data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
            case 1:
                data[at : at + length] = rng.choice(_TELLING)
            case 2:
                data[at:at] = rng.choice(_TELLING)
            case 3:
                del data[at : at + length]
            case 4:
                del data[at:]
            case 5:
                data[at:at] = data[at : at + length] * rng.choice((1, 2, 50))
            case 6:
                other = rng.choice(others)
                begin = rng.randrange(len(other) + 1)
                data[at : at + length] = other[begin : begin + rng.choice((1, 8, 200))]
            case _:
                data[at : at + length] = rng.randbytes(length)
        del data[_MAX_BYTES:]
    return bytes(data)


def _other_values(value: Any, rng: random.Random) -> bytes:
    whole = [value]
    for _ in range(rng.choice((1, 1, 2, 4))):
        inside: Any = whole
        while True:
            keys = list(inside) if isinstance(inside, dict) else range(len(inside))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(inside[key], (dict, list)) and rng.random() < 0.8:
                inside = inside[key]
                continue
            if rng.random() < 0.2 and inside is not whole:
                del inside[key]
            else:
                inside[key] = rng.choice((*_VALUES, inside[rng.choice(keys)]))
            break
    return json.dumps(whole[0]).encode()
