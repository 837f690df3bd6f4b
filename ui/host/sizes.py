"""Measure how much memory an object takes together with everything it refers to."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

LARGE: Final = 16_384
"""The size in bytes from which an object is counted separately, in case others refer to it too."""
_MANY: Final = 1_000
"""The number of items from which a container is measured by a sample of them."""
_WEIGHED: Final = 2_000
"""The least number of items of such a container that are weighed."""
_SAMPLED: Final = 100
"""The least number of these for which what they refer to is weighed too."""
_NOT_OURS: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType, type(None), bool)
"""These belong to the program: it would hold them without the object."""
_LEAVES: Final = (str, bytes, int, float, np.ndarray, *_NOT_OURS)


@dataclass(slots=True)
class Size:
    """The memory of an object in bytes."""

    small: int = 0
    """Of everything that is not in `large`."""
    large: dict[int, int] = field(default_factory=dict[int, int])
    """The bytes of large arrays, texts and containers, by id: two objects may share them."""

    @property
    def n_bytes(self) -> int:
        """The sum.

        >>> import numpy as np
        >>> array = np.zeros(1_000_000, np.int8)
        >>> round(measure_size([array, array]).n_bytes, -3)
        1000000
        """
        return self.small + sum(self.large.values())


def measure_size(value: object) -> Size:
    """Return the memory of an object with everything it refers to, each thing once.

    The contents of containers with many items are estimated from a sample of them. Memory that a
    library in another language holds is not seen. Takes some milliseconds for a million items.

    >>> measure_size("a" * 1_000).n_bytes
    1049
    """
    size = Size()
    size.small = _walk([value], set(), size.large)
    return size


def _walk(left: list[object], seen: set[int], large: dict[int, int]) -> int:
    """Visit objects and what they refer to; return the size of what does not go into `large`."""
    small = 0
    while left:
        each = left.pop()
        if isinstance(each, np.ndarray):
            each = _owner(cast("NDArray[Any]", each))
        if id(each) in seen or isinstance(each, _NOT_OURS):
            continue
        seen.add(id(each))
        own = _own_size(each)
        items = gc.get_referents(each)
        if len(items) >= _MANY:
            large[id(each)] = own + _items_size(items, seen, large)
            continue
        if own >= LARGE:
            large[id(each)] = own
        else:
            small += own
        left.extend(items)
    return small


def _owner(array: NDArray[Any]) -> object:
    """Return the object whose memory an array is a view of; itself if it has its own."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.base is None else array.base


def _own_size(each: object) -> int:
    return each.nbytes if isinstance(each, memoryview) else sys.getsizeof(each, 64)


def _items_size(items: Sequence[object], seen: set[int], large: dict[int, int]) -> int:
    """Estimate the size of a container's items with what they refer to."""
    weighed = items[:: max(1, len(items) // _WEIGHED)]
    own = sum(map(sys.getsizeof, weighed)) * len(items) / len(weighed)
    sample = items[:: max(1, len(items) // _SAMPLED)]
    found: dict[int, int] = {}
    beneath = 0
    for item in sample:
        if not isinstance(item, _LEAVES) and id(item) not in seen:
            seen.add(id(item))
            beneath += _walk(gc.get_referents(item), seen, found)
    if len(found) > len(sample) // 2:
        # Each item has large parts of its own, as opposed to a few that all refer to.
        beneath += sum(found.values())
    else:
        large.update(found)
    return round(own + beneath * len(items) / len(sample))
