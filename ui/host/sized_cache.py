"""Keep results that are slow to make, up to one limit in bytes for the server."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Hashable
from contextlib import nullcontext, suppress
from functools import update_wrapper
from threading import Condition
from typing import Any, Final, Generic, ParamSpec, TypeVar

import streamlit as st
from cachetools import TLRUCache
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.host.settings import settings
from ui.host.sizes import measure_size

P = ParamSpec("P")
Result = TypeVar("Result")


class SizedCache:
    """Results by key; the least recently used are dropped beyond a limit in bytes.

    A result larger than the limit is returned and not kept.

    >>> cache = SizedCache(max_bytes=2_000)
    >>> made = [len(cache.get(key, lambda: bytes(600))) for key in "abcd"]
    >>> [cache.find(key) is not None for key in "abcd"], cache.n_bytes <= 2_000
    ([False, True, True, True], True)
    """

    def __init__(self, max_bytes: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_bytes = max_bytes
        self._changed = Condition()
        self._making: set[Hashable] = set()
        self._lasting: set[Hashable] = set()
        # A result is kept with how many seconds it is valid.
        self._results: TLRUCache[Hashable, tuple[Any, float]] = TLRUCache(
            max_bytes,
            ttu=lambda _, kept, now: now + kept[1],
            timer=clock,
            getsizeof=lambda kept: measure_size(kept[0]).n_bytes,
        )

    @property
    def n_bytes(self) -> int:
        """The size of all results; what several share counts for each."""
        with self._changed:
            return round(self._results.currsize)

    def __len__(self) -> int:
        with self._changed:
            return len(self._results)

    def find(self, key: Hashable) -> Any:
        """Return the result of a key, or None if it is not kept."""
        with self._changed:
            return self._results.get(key, (None, 0.0))[0]

    def get(
        self, key: Hashable, make: Callable[[], Result], *, seconds: float = float("inf")
    ) -> Result:
        """Return the result of a key, made by `make` if it is not kept; raise what `make` raises.

        One thread makes it while others who ask for it wait. `seconds` is how long it is valid.
        """
        with self._changed:
            self._changed.wait_for(lambda: key not in self._making)
            if key in self._results:
                return self._results[key][0]
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
        # cachetools raises ValueError for a value that exceeds the limit alone.
        with self._changed, suppress(ValueError):
            self._results.pop(key, None)
            self._results[key] = result, seconds

    def forget(self, is_meant: Callable[[Hashable], bool] = lambda _: True) -> None:
        """Drop the results whose keys are meant; all by default."""
        with self._changed:
            for key in list(filter(is_meant, self._results)):
                self._results.pop(key, None)

    def note_lasting(self) -> None:
        """Note the results kept so far as those that the next visitors need, too."""
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
        of = (v for name, v in bound.arguments.items() if not name.startswith("_"))
        return self._name, *of


def cached(
    *, spinner: str = "", seconds: float = float("inf")
) -> Callable[[Callable[P, Result]], CachedFunction[P, Result]]:
    """Keep a function's results by its arguments, except those that begin with an underscore.

    All visitors get the same object, which nobody may change. `spinner` is shown while it is made;
    `seconds` is how long a result is valid.
    """
    return lambda function: CachedFunction(function, spinner, seconds)
