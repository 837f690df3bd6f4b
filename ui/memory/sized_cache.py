"""Keep what is slow to make, up to a limit in bytes for the server and for each visitor."""

from __future__ import annotations

import inspect
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import update_wrapper
from threading import Event, RLock, get_ident
from typing import Any, Final, Generic, ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.memory.sizes import Size, size_of
from ui.settings import settings

P = ParamSpec("P")
Result = TypeVar("Result")
_PART_WITHOUT_VISITOR: Final = 0.05
"""Visitors who left may come back, and reloading a page makes a new visitor."""


class Holdings:
    """The total size of several objects; what they share counts once, as it was measured last."""

    def __init__(self) -> None:
        self.n_bytes = 0
        self._holders: Counter[int] = Counter()
        self._large: dict[int, int] = {}

    def add(self, size: Size) -> None:
        """Count an object."""
        self.n_bytes += size.small
        for id, n_bytes in size.large.items():
            self._holders[id] += 1
            # It may have grown since it was measured for another object.
            self.n_bytes += n_bytes - self._large.get(id, 0)
            self._large[id] = n_bytes

    def remove(self, size: Size) -> None:
        """Stop counting an object that was added with this size."""
        self.n_bytes -= size.small
        for id in size.large:
            self._holders[id] -= 1
            if not self._holders[id]:
                del self._holders[id]
                self.n_bytes -= self._large.pop(id)


@dataclass(slots=True)
class _Entry:
    value: Any
    size: Size
    ends: float
    """The time of the clock from which it is made again."""
    visitors: dict[str, None] = field(default_factory=dict)
    """Those who asked for it and have not left; the first is charged for it."""
    charged: str | None = None
    is_lasting: bool = False
    """Made when the server started, so that first visits are fast."""


@dataclass(slots=True)
class _Flight:
    """A result that is being made; others who ask for it wait."""

    thread: int = field(default_factory=get_ident)
    ended: Event = field(default_factory=Event)
    results: list[Any] = field(default_factory=list)


class SizedCache:
    """Results by key; the least recently used are dropped beyond a limit in bytes.

    A result is charged to the visitor who asked for it first. A visitor beyond `most_bytes_each`
    loses their own least recently used results, except the newest, so nobody can push out
    everybody else's. Results whose visitors have all left, or that none asked for, are kept within
    a twentieth of the limit. A result larger than `most_bytes` is returned and not kept.

    >>> cache = SizedCache(most_bytes=2_000, most_bytes_each=2_000)
    >>> made = [len(cache.get(key, lambda: bytes(600), visitor="v")) for key in "abcd"]
    >>> [cache.find(key) is not None for key in "abcd"], cache.n_bytes <= 2_000
    ([False, False, True, True], True)
    """

    def __init__(
        self,
        most_bytes: int,
        most_bytes_each: int,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most_bytes = most_bytes
        self.most_bytes_each = most_bytes_each
        self._clock = clock
        # Reentrant: dropping a result may run a destructor that asks for another.
        self._lock = RLock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._flights: dict[Hashable, _Flight] = {}
        self._all = Holdings()
        self._without_visitor = Holdings()
        self._of_visitor: dict[str, Holdings] = {}

    @property
    def n_bytes(self) -> int:
        """The size of all results; what several share counts once."""
        return self._all.n_bytes

    def __len__(self) -> int:
        return len(self._entries)

    def bytes_of(self, visitor: str) -> int:
        """Return the size of the results charged to a visitor."""
        held = self._of_visitor.get(visitor)
        return 0 if held is None else held.n_bytes

    def find(self, key: Hashable, *, visitor: str | None = None) -> Any:
        """Return the result of a key, or None if it is not kept."""
        with self._lock:
            entry = self._used(key, visitor)
            return None if entry is None else entry.value

    def get(
        self,
        key: Hashable,
        make: Callable[[], Result],
        *,
        visitor: str | None = None,
        seconds: float = float("inf"),
    ) -> Result:
        """Return the result of a key, made by `make` if it is not kept; raise what `make` raises.

        One thread makes it while others who ask for it wait. `seconds` is how long it is valid.
        """
        while True:
            with self._lock:
                entry = self._used(key, visitor)
                if entry is not None:
                    return entry.value
                flight = self._flights.get(key)
                is_mine = flight is None
                if flight is None:
                    flight = self._flights[key] = _Flight()
            if is_mine:
                return self._make(key, make, flight, visitor, seconds)
            if flight.thread == get_ident():
                return make()
            flight.ended.wait()
            if flight.results:
                return flight.results[0]
            # The maker failed or was interrupted: its visitor may have pressed another button.

    def keep(
        self,
        key: Hashable,
        value: object,
        *,
        visitor: str | None = None,
        seconds: float = float("inf"),
    ) -> bool:
        """Keep a result in place of the one of its key; return False if it is too large."""
        # Outside the lock, because measuring takes some milliseconds.
        size = size_of((key, value))
        with self._lock:
            self._drop(key)
            if size.n_bytes > self.most_bytes:
                return False
            entry = self._entries[key] = _Entry(value, size, self._clock() + seconds)
            self._all.add(size)
            self._charge(entry, visitor)
            if visitor is not None:
                entry.visitors[visitor] = None
            self._shrink(key)
            return True

    def forget(self, is_meant: Callable[[Hashable], bool] = lambda _: True) -> None:
        """Drop the results whose keys are meant; all by default."""
        with self._lock:
            for key in [key for key in self._entries if is_meant(key)]:
                self._drop(key)

    def note_lasting(self) -> None:
        """Note the results that no visitor has asked for yet as lasting."""
        with self._lock:
            for entry in self._entries.values():
                entry.is_lasting = not entry.visitors

    def forget_all_but_lasting(self) -> None:
        """Drop the results that were made since `note_lasting`."""
        with self._lock:
            for key in [key for key, entry in self._entries.items() if not entry.is_lasting]:
                self._drop(key)

    def leave(self, visitor: str) -> None:
        """Release what a visitor who left was charged for, unless others use it."""
        with self._lock:
            for entry in self._entries.values():
                entry.visitors.pop(visitor, None)
                if entry.charged == visitor:
                    self._discharge(entry)
                    self._charge(entry, next(iter(entry.visitors), None))
            self._shrink(None)

    def measure_again(self) -> None:
        """Measure all results again, and drop what exceeds the limits by now.

        Results grow as they are used: a tokenizer builds its tables when it first encodes, and a
        thread's word cache becomes larger with the text.
        """
        with self._lock:
            entries = list(self._entries.items())
        for key, entry in entries:
            # Outside the lock, because measuring takes some milliseconds.
            size = size_of((key, entry.value))
            with self._lock:
                if self._entries.get(key) is entry:
                    charged = entry.charged
                    self._all.remove(entry.size)
                    self._discharge(entry)
                    entry.size = size
                    self._all.add(size)
                    self._charge(entry, charged)
        with self._lock:
            self._shrink(None)

    def visitors(self) -> set[str]:
        """Return the visitors who asked for any of the results and have not left."""
        with self._lock:
            return {visitor for entry in self._entries.values() for visitor in entry.visitors}

    def _make(
        self,
        key: Hashable,
        make: Callable[[], Result],
        flight: _Flight,
        visitor: str | None,
        seconds: float,
    ) -> Result:
        try:
            value = make()
            flight.results.append(value)
            self.keep(key, value, visitor=visitor, seconds=seconds)
        finally:
            with self._lock:
                del self._flights[key]
            flight.ended.set()
        return value

    def _used(self, key: Hashable, visitor: str | None) -> _Entry | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.ends <= self._clock():
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        if visitor is not None:
            entry.visitors[visitor] = None
            if entry.charged is None:
                self._discharge(entry)
                self._charge(entry, visitor)
        return entry

    def _shrink(self, newest: Hashable) -> None:
        """Drop results until all limits hold; never the newest."""
        entry = self._entries.get(newest)
        visitor = None if entry is None else entry.charged
        if visitor is not None and self.bytes_of(visitor) > self.most_bytes_each:
            own = [key for key, each in self._entries.items() if each.charged == visitor]
            for key in own:
                if self.bytes_of(visitor) <= self.most_bytes_each:
                    break
                if key != newest:
                    self._drop(key)
        if self._without_visitor.n_bytes > self.most_bytes * _PART_WITHOUT_VISITOR:
            for key in [key for key, each in self._entries.items() if each.charged is None]:
                if self._without_visitor.n_bytes <= self.most_bytes * _PART_WITHOUT_VISITOR:
                    break
                if key != newest:
                    self._drop(key)
        while self.n_bytes > self.most_bytes:
            self._drop(next(key for key in self._entries if key != newest))

    def _drop(self, key: Hashable) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._all.remove(entry.size)
            self._discharge(entry)

    def _charge(self, entry: _Entry, visitor: str | None) -> None:
        entry.charged = visitor
        self._account_of(visitor).add(entry.size)

    def _discharge(self, entry: _Entry) -> None:
        account = self._account_of(entry.charged)
        account.remove(entry.size)
        if entry.charged is not None and not account.n_bytes:
            del self._of_visitor[entry.charged]

    def _account_of(self, visitor: str | None) -> Holdings:
        if visitor is None:
            return self._without_visitor
        return self._of_visitor.setdefault(visitor, Holdings())


server_cache: Final = SizedCache(
    settings().cache_megabytes * 1_000_000, settings().visitor_cache_megabytes * 1_000_000
)
"""The results that this server keeps, of all functions with `cached`."""


def visitor_of_script() -> str | None:
    """Return the visitor whose page this thread draws; None in other threads."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


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
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        of = tuple(v for name, v in bound.arguments.items() if not name.startswith("_"))
        visitor = visitor_of_script()

        def make() -> Result:
            is_shown = self._spinner and visitor is not None
            with st.spinner(self._spinner) if is_shown else nullcontext():
                return self._function(*args, **kwargs)

        key = (self._name, *of)
        return server_cache.get(key, make, visitor=visitor, seconds=self._seconds)

    def clear(self) -> None:
        """Drop this function's results."""
        server_cache.forget(lambda key: isinstance(key, tuple) and key[:1] == (self._name,))


def cached(
    *, spinner: str = "", seconds: float = float("inf")
) -> Callable[[Callable[P, Result]], CachedFunction[P, Result]]:
    """Keep a function's results by its arguments, except those that begin with an underscore.

    All visitors get the same object, which nobody may change. `spinner` is shown while it is made;
    `seconds` is how long a result is valid.
    """
    return lambda function: CachedFunction(function, spinner, seconds)
