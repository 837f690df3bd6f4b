"""Keep results that are slow to make, up to one limit in bytes for the server."""

from __future__ import annotations

import gc
import inspect
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import update_wrapper
from threading import Condition, RLock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.host.server_settings import settings

P = ParamSpec("P")
Result = TypeVar("Result")
LARGE: Final = 16_384
"""The size in bytes from which an object is counted separately, in case others refer to it too."""
_MANY: Final = 1_000
"""The number of items from which a container is measured by a sample of them."""
_WEIGHED: Final = 2_000
"""The least number of items of a large container that are weighed."""
_SAMPLED: Final = 100
"""The least number of these for which what they refer to is weighed too."""
_NOT_OURS: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType, type(None), bool)
"""These belong to the program: it would hold them without the object."""
_LEAVES: Final = (str, bytes, int, float, np.ndarray, *_NOT_OURS)


@dataclass(frozen=True, slots=True)
class _Kept:
    result: Any
    size: Size
    expires: float


class SizedCache:
    """Results by key; the least recently used are dropped beyond a limit in bytes.

    What several results share counts once: many hold the same tokenizer, and would otherwise drop
    each other. A result larger than the limit is returned and not kept.

    >>> cache = SizedCache(max_bytes=2_000)
    >>> made = [len(cache.get(key, lambda: bytes(600))) for key in "abcd"]
    >>> [cache.find(key) is not None for key in "abcd"], cache.n_bytes <= 2_000
    ([False, True, True, True], True)
    """

    def __init__(self, max_bytes: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_bytes = max_bytes
        self._clock = clock
        self._changed = Condition(RLock())
        self._making: set[Hashable] = set()
        self._lasting: set[Hashable] = set()
        self._results: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._small = 0
        self._holders: Counter[int] = Counter()
        """How many results hold each large part, by its id."""
        self._large: dict[int, int] = {}
        """The bytes of these parts."""

    @property
    def n_bytes(self) -> int:
        """The size of all results together."""
        with self._changed:
            return self._small + sum(self._large.values())

    def __len__(self) -> int:
        with self._changed:
            return len(self._results)

    def find(self, key: Hashable) -> Any:
        """Return the result of a key, or None if it is not kept."""
        with self._changed:
            return self._results[key].result if self._is_kept(key) else None

    def get(
        self, key: Hashable, make: Callable[[], Result], *, seconds: float = float("inf")
    ) -> Result:
        """Return the result of a key, made by `make` if it is not kept; raise what `make` raises.

        One thread makes it while others who ask for it wait. `seconds` is how long it is valid.
        """
        with self._changed:
            self._changed.wait_for(lambda: key not in self._making)
            if self._is_kept(key):
                return self._results[key].result
            self._making.add(key)
        try:
            result = make()
            self.keep(key, result, seconds=seconds)
        finally:
            with self._changed:
                self._making.remove(key)
                self._changed.notify_all()
        return result

    def keep(self, key: Hashable, result: object, *, seconds: float = float("inf")) -> None:
        """Keep a result in place of the one of its key, unless it is too large."""
        size = measure_size(result)
        with self._changed:
            self._drop(key)
            if size.n_bytes > self.max_bytes:
                return
            self._results[key] = _Kept(result, size, self._clock() + seconds)
            self._small += size.small
            self._holders.update(size.large.keys())
            self._large = size.large | self._large
            while self.n_bytes > self.max_bytes:
                self._drop(next(iter(self._results)))

    def forget(self, is_meant: Callable[[Hashable], bool] = lambda _: True) -> None:
        """Drop the results whose keys are meant; all by default."""
        with self._changed:
            for key in list(filter(is_meant, self._results)):
                self._drop(key)

    def _is_kept(self, key: Hashable) -> bool:
        """Return whether a key has a valid result, which then is the last one used."""
        if key not in self._results:
            return False
        if self._clock() >= self._results[key].expires:
            self._drop(key)
            return False
        self._results.move_to_end(key)
        return True

    def _drop(self, key: Hashable) -> None:
        kept = self._results.pop(key, None)
        if kept is None:
            return
        self._small -= kept.size.small
        self._holders.subtract(kept.size.large.keys())
        for part in kept.size.large:
            if not self._holders[part]:
                del self._holders[part], self._large[part]

    def note_lasting(self) -> None:
        """Mark the results kept so far as needed by later visitors as well."""
        with self._changed:
            self._lasting = set(self._results)

    def forget_all_but_lasting(self) -> None:
        """Drop the results that were made since `note_lasting`."""
        self.forget(lambda key: key not in self._lasting)


server_cache: Final = SizedCache(settings().cache_megabytes * 1_000_000)
"""The results that this server keeps, of all functions with `cached`."""


class CachedFunction(Generic[P, Result]):
    """A function whose results `server_cache` keeps; `cached` makes it."""

    def __init__(self, function: Callable[P, Result], spinner: str, seconds: float) -> None:
        update_wrapper(self, function)
        self._function = function
        self._signature = inspect.signature(function)
        self._spinner = spinner
        self._seconds = seconds
        self._name = f"{function.__module__}.{function.__qualname__}"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        def make() -> Result:
            # In other threads than a page's there is nowhere to show it.
            is_shown = self._spinner and get_script_run_ctx(suppress_warning=True) is not None
            with st.spinner(self._spinner) if is_shown else nullcontext():
                return self._function(*args, **kwargs)

        return server_cache.get(self._key(*args, **kwargs), make, seconds=self._seconds)

    def find(self, *args: P.args, **kwargs: P.kwargs) -> Result | None:
        """Return the result for these arguments if it is kept; otherwise nothing is made."""
        return server_cache.find(self._key(*args, **kwargs))

    def clear(self) -> None:
        """Drop this function's results."""
        server_cache.forget(lambda key: isinstance(key, tuple) and key[:1] == (self._name,))

    def _key(self, *args: P.args, **kwargs: P.kwargs) -> tuple[object, ...]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        of = (_known_by(v) for name, v in bound.arguments.items() if name[0] != "_")
        return self._name, *of


def _known_by(argument: object) -> object:
    """Return what stands for an argument in a key, which must keep nothing large in memory."""
    if isinstance(argument, list | tuple):
        return tuple(map(_known_by, cast("Sequence[object]", argument)))
    return getattr(argument, "fingerprint", argument)


def cached(
    *, spinner: str = "", seconds: float = float("inf")
) -> Callable[[Callable[P, Result]], CachedFunction[P, Result]]:
    """Keep a function's results by its arguments, except those that begin with an underscore.

    Encoders and corpora are told apart by their fingerprints; a corpus's covers texts and names.

    All visitors get the same object, which nobody may change. `spinner` is shown while it is made;
    `seconds` is how long a result is valid.
    """
    return lambda function: CachedFunction(function, spinner, seconds)


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
