"""Ids that a caller gives, as the read-only int32 arrays that kernels take."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_PACKED_AT_ONCE: Final = 4096


def as_int32(ids: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int32] | None:
    """Return ids as int32, or None if any is not an int or too large for a token.

    >>> as_int32([464, 2068]), as_int32([2**40])
    (array([ 464, 2068], dtype=int32), None)
    """
    if isinstance(ids, np.ndarray) and ids.dtype == np.int32:
        known = np.require(ids, np.int32, ["C_CONTIGUOUS", "ALIGNED"]).view()
        # Kernels are compiled per array type, so all calls pass read-only arrays.
        known.flags.writeable = False
        return known
    listed: Sequence[int] = ids.tolist() if isinstance(ids, np.ndarray) else ids
    try:
        known = np.frombuffer(_packed(listed), np.int32)
    except struct.error:
        return None
    # `struct` packs a bool as an int. Checking the type of every id would double the time.
    if any(isinstance(listed[place], bool) for place in np.flatnonzero(known < 2).tolist()):
        return None
    # Read-only, as above: for a writable array the kernels would be compiled again.
    known.flags.writeable = False
    return known


def _packed(ids: Sequence[int]) -> bytes:
    """Return ids as bytes of int32; raises struct.error if any is not an int or too large.

    An `array` takes 1.5 times as long, and `np.fromiter` takes 1.5 for 1.
    """
    whole = len(ids) - len(ids) % _PACKED_AT_ONCE
    pack = struct.Struct(f"{_PACKED_AT_ONCE}i").pack
    parts = [pack(*ids[k : k + _PACKED_AT_ONCE]) for k in range(0, whole, _PACKED_AT_ONCE)]
    parts.append(struct.pack(f"{len(ids) - whole}i", *ids[whole:]))
    return b"".join(parts)
