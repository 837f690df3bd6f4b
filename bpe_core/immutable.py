"""A base class for immutable objects."""

from __future__ import annotations

from typing import Any, Self


class Immutable:
    """Base class of immutable objects: a copy, shallow or deep, is the object itself.

    Each class defines how it is pickled, in `__reduce__`.

    >>> from copy import copy, deepcopy
    >>> value = Immutable()
    >>> copy(value) is value, deepcopy([value])[0] is value
    (True, True)
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
